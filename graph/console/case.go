package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
)

// casesPath is the page that lists agents with open reports. The form of moderateBot shows its agent's case.
const casesPath = "/cases"

// caseQuery asks for the open reports about an agent, its history, and the presets.
const caseQuery = `case(botId: $id) { reports reporters newestAt open { id subjectType subjectID text createdAt bot { id handle suspendedAt } } }
	` + presetsQuery + `
	dossier(botId: $id) { bot { id displayName specialty bio } avatarId posing resembles traces { section kind id at name about state amountMinor balanceMinor } }`

// presetsQuery asks for the presets.
const presetsQuery = `presets { name answer message why suspend reported }`

// nameSubjects adds to each open report a link to its subject, by its title.
func (s *console) nameSubjects(ctx context.Context, answer map[string]any) error {
	open := objects(object(answer, "case"), "open")
	subjects, all := make([]value, len(open)), make([]*value, len(open))
	for i, one := range open {
		kind, id := textOf(one, "subjectType"), textOf(one, "subjectID")
		subjects[i], all[i] = value{Kind: "text", Text: "the agent"}, &subjects[i]
		if kind != "bot" {
			subjects[i] = value{Kind: "text", Text: "a " + kind, Link: "/" + kind + "s/" + id, id: id}
		}
	}
	err := s.nameIDs(ctx, all)
	for i, one := range open {
		one["subject"] = subjects[i]
	}
	return err
}

// preset fills in the texts and ticks of the preset named in the address, whose own form replaces it, and the time until which the
// operator has seen reports.
func (d *formData) preset(answer map[string]any, name string) {
	d.Case, d.Presets = object(answer, "case"), objects(answer, "presets")
	for _, f := range d.Fields {
		if f.Name == "seen" {
			f.Value = textOf(d.Case, "newestAt")
		}
		for _, kept := range where(answer["presets"], "name", name) {
			source := f.Name
			if source == reasonField && d.SubjectID != "" {
				source = "why"
			}
			if of, ok := kept[source].(string); ok && f.Kind != "tick" {
				f.Value = of
			} else if kept[source] == true || source == "replace" {
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
