package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// settingsQuery asks for the settings, and for what needs to be set up before it can be switched on.
var settingsQuery = `{ settings ` + selectionSet(schema.Types["Settings"], 0) + ` switches { name on missing activate deactivate } }`

// settingsData holds the data of the settings' page.
type settingsData struct {
	Facts      []fact
	Switches   []map[string]any
	Procedures []*procedure
}

// settings shows what operators steer while the server runs.
func (s *console) settings(w http.ResponseWriter, r *http.Request) error {
	answer, err := s.ask(r.Context(), settingsQuery, nil)
	if err != nil {
		return err
	}
	data := settingsData{Switches: objects(answer, "switches"), Facts: factsOf("Settings", object(answer, "settings"))}
	data.Procedures = slices.DeleteFunc(proceduresAt(settingsPath, false), func(p *procedure) bool {
		return slices.ContainsFunc(data.Switches, func(one map[string]any) bool { // it is on, or off, already
			return one["activate"] != one["deactivate"] && (one["on"] == true && one["activate"] == p.Name || one["on"] != true && one["deactivate"] == p.Name)
		})
	})
	return s.show(w, r, view{template: "settings", Title: "Settings", Path: settingsPath, Notice: notice(r), Data: data})
}

// settingsFacts are the settings, and whether each switch is on.
func (s *console) settingsFacts(ctx context.Context) ([]fact, error) {
	answer, err := s.ask(ctx, settingsQuery, nil)
	all := factsOf("Settings", object(answer, "settings"))
	for _, one := range objects(answer, "switches") {
		on := value{Kind: "no", Text: "Off"}
		if one["on"] == true {
			on = value{Kind: "yes", Text: "On"}
		}
		all = append(all, fact{Label: textOf(one, "name"), Value: on})
	}
	return all, err
}

// maintenanceData holds the data of the maintenance page.
type maintenanceData struct {
	Procedures []*procedure
	Retention  []map[string]any
}

// maintenance shows what is kept for how long, and leads to what operators may run at once.
func (s *console) maintenance(w http.ResponseWriter, r *http.Request) error {
	answer, err := s.ask(r.Context(), `{ retention { name what days job } }`, nil)
	if err != nil {
		return err
	}
	data := maintenanceData{proceduresAt(maintenancePath, false), objects(answer, "retention")}
	for _, one := range data.Retention {
		one["kept"] = period(one["days"])
	}
	return s.show(w, r, view{template: "maintenance", Title: "Maintenance", Path: maintenancePath, Data: data})
}

// period is a number of days as people read it.
func period(days any) string {
	number, ok := days.(json.Number)
	if !ok {
		return "for ever"
	}
	switch n, _ := number.Float64(); { // the schema says that it is one
	case n == 0:
		return "until the job runs next"
	case n < 2:
		return fmt.Sprintf("%.0f hours", n*24)
	default:
		return fmt.Sprintf("%.0f days", n)
	}
}
