package console

import (
	"net/http"
	"net/url"
	"slices"
)

// casesPath is the page that lists agents with open reports. The form of moderateBot shows its agent's case.
const casesPath = "/cases"

// caseQuery asks for the open reports about an agent, its history, and the presets.
const caseQuery = `case(botId: $id) { reports reporters newestAt open { id subjectType subjectID text createdAt bot { id handle } } }
	presets { name answer message why suspend reported }
	dossier(botId: $id) { bot { id } state posing resembles traces { section kind id at name about state amountMinor balanceMinor } }`

// preset fills in the texts and ticks of the preset named in the address, and the time until which the operator has seen reports.
func (d *formData) preset(answer map[string]any, name string) {
	d.Case, d.Presets = object(answer, "case"), objects(answer, "presets")
	for _, f := range d.Fields {
		if f.Name == "seen" {
			f.Value = textOf(d.Case, "newestAt")
		}
		for _, kept := range where(answer["presets"], "name", name) {
			source := f.Name
			if source == reasonField {
				source = "why"
			}
			if of, ok := kept[source].(string); ok && f.Kind == "lines" {
				f.Value = of
			} else if kept[source] == true {
				f.Value = "true"
			}
		}
	}
}

// nextCase redirects to the case after the agent `after`; without `after`, to the first case; after the last case, to the list.
func (s *console) nextCase(w http.ResponseWriter, r *http.Request) error {
	answer, err := s.ask(r.Context(), `{ cases { bot { id } } }`, nil)
	if err != nil {
		return err
	}
	sent, all := r.URL.Query(), objects(answer, "cases")
	next := 1 + slices.IndexFunc(all, func(one map[string]any) bool { return object(one, "bot")["id"] == sent.Get("after") })
	to := url.Values{}
	if sent.Has("done") {
		to.Set("done", sent.Get("done"))
	}
	path := casesPath
	if next < len(all) {
		path = "/procedures/moderateBot"
		to.Set("id", textOf(object(all[next], "bot"), "id"))
	}
	return seeOther(w, path+"?"+to.Encode())
}
