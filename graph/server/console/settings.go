package console

import (
	"encoding/json"
	"fmt"
	"net/http"
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
	found, definition := object(answer, "settings"), schema.Types["Settings"]
	data := settingsData{Switches: objects(answer, "switches"), Procedures: proceduresAt(settingsPath, false)}
	for _, field := range fieldsOf(definition) {
		data.Facts = append(data.Facts, fact{human(field.Name), field.Description, newValue("Settings", field, found[field.Name], false)})
	}
	return s.show(w, r, view{template: settingsPage, Title: "Settings", Path: settingsPath, Notice: notice(r), Data: data})
}

// maintenanceData holds the data of the maintenance page.
type maintenanceData struct {
	Procedures []*procedure
	Retention  []retention
}

// retention says how long a kind of record is kept.
type retention struct{ Name, What, Kept, Job string }

// maintenance shows what is kept for how long, and leads to what operators may run at once.
func (s *console) maintenance(w http.ResponseWriter, r *http.Request) error {
	answer, err := s.ask(r.Context(), `{ retention { name what days job } }`, nil)
	if err != nil {
		return err
	}
	data := maintenanceData{Procedures: proceduresAt(maintenancePath, false)}
	for _, one := range objects(answer, "retention") {
		text := func(name string) string { v, _ := one[name].(string); return v }
		data.Retention = append(data.Retention, retention{text("name"), text("what"), period(one["days"]), text("job")})
	}
	return s.show(w, r, view{template: maintenancePage, Title: "Maintenance", Path: maintenancePath, Data: data})
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
