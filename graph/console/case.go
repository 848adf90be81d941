package console

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"stoa/graph/platform/pages"
)

// casesPath is the page that lists agents with open reports. The form of moderateBot shows its agent's case.
const casesPath = "/cases"

// casePath is the page of an agent's case.
func casePath(agent string) string { return "/procedures/moderateBot?id=" + agent }

// caseQuery asks for the open reports about an agent, its history, the other cases, and the presets.
const caseQuery = `cases { bot { id } } case(botId: $id) { reports reporters newestAt open { id subjectType subjectID text createdAt bot { id handle suspendedAt } } }
	` + presetsQuery + `
	dossier(botId: $id) { bot { id handle displayName specialty bio characterDescription updatedAt suspendedAt } avatarId posing resembles traces { section kind id at name about state amountMinor balanceMinor } }`

// presetsQuery asks for the presets.
const presetsQuery = `presets { name answer message why suspend reported clearName clearTexts clearImages kinds }`

// reportedQuery asks for the reported things, when each ended, and when its author changed it; a task cannot be changed.
const reportedQuery = `query ($ids: [ID!]!) { nodes(ids: $ids) { __typename
	... on Post { id title body: text changed: updatedAt ended: deletedAt } ... on Task { id title body: description ended: removedAt }
	... on Service { id title body: description changed: updatedAt ended: deletedAt } ... on Rating { id body: text changed: createdAt ended: removedAt }
} }`

// reportedLength is how many bytes of a reported text a case shows.
const reportedLength = 600

// addSubjects adds the present subject to each open report, and whether it was changed or deleted since.
func (s *console) addSubjects(ctx context.Context, answer map[string]any) error {
	open, byID := objects(object(answer, "case"), "open"), map[string]map[string]any{}
	var ids []string
	for _, one := range open {
		if one["subjectType"] != "bot" {
			ids = append(ids, textOf(one, "subjectID"))
		}
	}
	if ids != nil {
		found, err := s.ask(ctx, reportedQuery, map[string]any{"ids": ids})
		if err != nil {
			return err
		}
		for _, node := range objects(found, "nodes") {
			byID[textOf(node, "id")] = node
		}
	}
	for _, one := range open {
		kind, id := textOf(one, "subjectType"), textOf(one, "subjectID")
		node, known := byID[id]
		if kind == "bot" {
			one["subject"] = value{Kind: "text", Text: "the agent"}
			if bot := object(object(answer, "dossier"), "bot"); bot["suspendedAt"] == nil { // a suspension is a change as well
				node = map[string]any{"changed": bot["updatedAt"]}
			}
		} else {
			one["subject"] = value{Kind: "text", Text: "a " + kind, Link: "/" + kind + "s/" + id}
		}
		if title := textOf(node, "title"); known && title != "" {
			one["subject"] = value{Kind: "text", Text: shortText(title), Link: "/" + kind + "s/" + id}
		}
		one["body"] = pages.Line(textOf(node, "body"), reportedLength)
		if node["ended"] != nil {
			one["since"] = "deleted since"
		} else if textOf(node, "changed") > textOf(one, "createdAt") {
			one["since"] = "changed since"
		}
	}
	return nil
}

// presetFields maps fields of the form of moderateBot to the fields of a preset that have another name.
var presetFields = map[string]string{reasonField: "why", "name": "clearName", "texts": "clearTexts", "images": "clearImages"}

// preset fills in the texts and ticks of the preset that the address names, and the time until which the operator has seen
// reports. It also ticks replace in the form of writePreset.
func (d *formData) preset(answer map[string]any, name string) {
	d.Case, d.Presets = object(answer, "case"), objects(answer, "presets")
	all := objects(answer, "cases")
	if i := slices.IndexFunc(all, func(one map[string]any) bool { return object(one, "bot")["id"] == d.SubjectID }); i >= 0 {
		d.Position = fmt.Sprint(i+1, " of ", len(all))
	}
	for _, f := range d.Fields {
		if f.Name == "seen" {
			f.Value = textOf(d.Case, "newestAt")
		}
		source := f.Name
		if d.SubjectID != "" {
			source = cmp.Or(presetFields[source], source)
		}
		for _, kept := range where(answer["presets"], "name", name) {
			switch of := kept[source].(type) {
			case string:
				f.Value = of
			case []any:
				f.Values = texts(of)
			default:
				if of == true || source == "replace" {
					f.Value = "true"
				}
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
	for _, name := range []string{"done", "since"} {
		if sent.Has(name) {
			to.Set(name, sent.Get(name))
		}
	}
	path := casesPath
	if next < len(all) {
		path = "/procedures/moderateBot"
		to.Set("id", textOf(object(all[next], "bot"), "id"))
	}
	return seeOther(w, path+"?"+to.Encode())
}
