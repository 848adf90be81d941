package console

import (
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // a bare machine has no zones

	"stoa/graph/platform/fault"
)

const (
	// zonePath takes the form that chooses a time zone, and zoneCookie keeps it in the browser.
	zonePath, zoneCookie = "/zone", "stoa_zone"
	// zoneLifetime is how long the browser keeps it.
	zoneLifetime = 365 * 24 * time.Hour
	// maxZoneName is the length of a zone's name in bytes.
	maxZoneName = 64
)

// zoneNames are offered on every page, from west to east; any other of the time zone database can be sent, too.
var zoneNames = strings.Fields(`UTC
	Pacific/Honolulu America/Anchorage America/Los_Angeles America/Denver America/Phoenix America/Mexico_City America/Chicago
	America/Bogota America/Lima America/New_York America/Toronto America/Caracas America/Santiago America/Halifax America/St_Johns
	America/Sao_Paulo America/Argentina/Buenos_Aires Atlantic/Azores
	Europe/London Europe/Dublin Europe/Lisbon Africa/Casablanca Africa/Lagos Europe/Amsterdam Europe/Berlin Europe/Madrid Europe/Paris
	Europe/Prague Europe/Rome Europe/Stockholm Europe/Vienna Europe/Warsaw Europe/Zurich
	Africa/Cairo Africa/Johannesburg Asia/Jerusalem Europe/Athens Europe/Bucharest Europe/Helsinki Europe/Kyiv
	Africa/Nairobi Asia/Baghdad Asia/Riyadh Europe/Istanbul Europe/Moscow Asia/Tehran Asia/Dubai Asia/Tbilisi Asia/Kabul
	Asia/Karachi Asia/Tashkent Asia/Kolkata Asia/Kathmandu Asia/Almaty Asia/Dhaka Asia/Yangon Asia/Bangkok Asia/Ho_Chi_Minh
	Asia/Jakarta Asia/Hong_Kong Asia/Manila Asia/Shanghai Asia/Singapore Asia/Taipei Australia/Perth Asia/Seoul Asia/Tokyo
	Australia/Adelaide Australia/Brisbane Australia/Sydney Pacific/Noumea Pacific/Auckland Pacific/Apia`)

// findZone returns the time zone of a name.
func findZone(name string) (*time.Location, bool) {
	if name == "" || name == "Local" || len(name) > maxZoneName {
		return time.UTC, false
	}
	zone, err := time.LoadLocation(name)
	return zone, err == nil
}

// zoneOf is the time zone that an operator has chosen; UTC unless another was.
func zoneOf(r *http.Request) *time.Location {
	sent, err := r.Cookie(zoneCookie)
	if err != nil {
		return time.UTC
	}
	if zone, ok := findZone(sent.Value); ok {
		return zone
	}
	return time.UTC
}

// zoneOptions are the zones to choose from, and the chosen one.
func zoneOptions(chosen *time.Location) []option {
	all := make([]option, 0, len(zoneNames)+1)
	known := false
	for _, name := range zoneNames {
		all = append(all, option{Value: name, Chosen: name == chosen.String()})
		known = known || name == chosen.String()
	}
	if !known {
		all = append(all, option{Value: chosen.String(), Chosen: true})
	}
	return all
}

// chooseZone keeps the chosen zone in the browser and leads back. Faults: invalid_input.
func (s *console) chooseZone(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxZoneForm)
	zone, ok := findZone(r.PostFormValue("zone"))
	if !ok {
		return fault.Field(fault.InvalidInput, "zone", "is not the name of a time zone, such as Europe/Berlin")
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // it is no secret
		Name: zoneCookie, Value: zone.String(), Path: "/", MaxAge: int(zoneLifetime.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	return seeOther(w, localPath(r.PostForm.Get("next")))
}

// maxZoneForm is the size of its form in bytes; next may be a long address.
const maxZoneForm = 16 << 10

// localPath is a path of the console; the overview for anything else.
func localPath(sent string) string {
	if !strings.HasPrefix(sent, "/") || strings.HasPrefix(sent, "//") || strings.ContainsAny(sent, "\\\r\n") {
		return "/"
	}
	return sent
}

// Layouts of times: of one line of a table, and of a text.
const (
	briefTime = "2 Jan 2006, 15:04"
	longTime  = "2 January 2006, 15:04"
	exactTime = "2 January 2006, 15:04:05"
)

// in is the text of a time in a zone; a time outside of a table names its zone.
func (v value) in(zone *time.Location) string {
	at, err := time.Parse(time.RFC3339, v.Stamp)
	switch {
	case err != nil:
		return v.Text
	case v.Brief:
		return at.In(zone).Format(briefTime)
	default:
		return at.In(zone).Format(longTime) + " " + zone.String()
	}
}

// clockIn is the time of the day in a zone.
func (v value) clockIn(zone *time.Location) string {
	at, err := time.Parse(time.RFC3339, v.Stamp)
	if err != nil {
		return ""
	}
	return at.In(zone).Format("15:04")
}

// UTC is the exact time, for those who point at it.
func (v value) UTC() string {
	at, err := time.Parse(time.RFC3339, v.Stamp)
	if err != nil {
		return ""
	}
	return at.UTC().Format(exactTime) + " UTC"
}

// looks are the templates by zone and name. It is safe for concurrent use.
type looks struct {
	mu   sync.Mutex
	made map[[2]string]*template.Template
}

// maxLooks bounds how many templates are kept: as many as twenty zones need.
const maxLooks = 400

// of returns a template whose times are in a zone.
func (l *looks) of(name string, zone *time.Location) *template.Template {
	key := [2]string{zone.String(), name}
	l.mu.Lock()
	defer l.mu.Unlock()
	if found := l.made[key]; found != nil {
		return found
	}
	if len(l.made) >= maxLooks || l.made == nil {
		l.made = map[[2]string]*template.Template{}
	}
	l.made[key] = parse(name, zone)
	return l.made[key]
}

// parse reads the template of a page, which defines the content of the layout.
func parse(name string, zone *time.Location) *template.Template {
	functions := template.FuncMap{
		"human": human, "zone": zone.String,
		"chart":  func(c chartData) template.HTML { return chart(c, zone) },
		"moment": func(v value) string { return v.in(zone) },
		"clock":  func(v value) string { return v.clockIn(zone) },
	}
	return template.Must(template.New("layout.html").Funcs(functions).
		ParseFS(templateFiles, "templates/layout.html", "templates/parts.html", "templates/"+name+".html"))
}
