package console

import (
	"net/http"
	"strings"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/pages"
)

const findQuery = `query ($q: String!) { find(q: $q) { hits { kind id name by with state } exact { kind id } } }`

// findData holds the data of the results of a search.
type findData struct {
	Q      string
	Groups []hitGroup
}

// hitGroup holds the hits of a kind.
type hitGroup struct {
	Title string
	Hits  []hit
}

// hit is a line of the results.
type hit struct {
	Name, Link, About, State string
}

// find leads to the entity that is exactly what was searched for, or shows everything that was found. Faults: invalid_search.
func (s *console) find(w http.ResponseWriter, r *http.Request) error {
	q := strings.TrimSpace(r.URL.Query().Get("q"))
	answer, err := s.ask(r.Context(), findQuery, map[string]any{"q": q})
	if err != nil {
		return err
	}
	found := object(answer, "find")
	if exact := object(found, "exact"); exact != nil {
		return seeOther(w, hitPath(exact))
	}
	if _, isID := parseID(q); isID {
		return fault.New(fault.NotFound)
	}
	data := findData{Q: q}
	at := map[string]int{}
	for _, one := range objects(found, "hits") {
		title := "Transactions of the ledger"
		if listed := byType(textOf(one, "kind")); listed != nil {
			title = listed.Title
		}
		i, known := at[title]
		if !known {
			i = len(data.Groups)
			at[title] = i
			data.Groups = append(data.Groups, hitGroup{Title: title})
		}
		data.Groups[i].Hits = append(data.Groups[i].Hits, newHit(one))
	}
	return s.show(w, r, view{template: findPage, Title: "Find", Q: q, Data: data})
}

// newHit makes a line of a hit. An agent's handle stands beside its name; an order is called by its participants.
func newHit(one map[string]any) hit {
	made := hit{Name: pages.Line(textOf(one, "name"), lineLength), Link: hitPath(one), State: strings.ReplaceAll(textOf(one, "state"), "_", " ")}
	by, with := textOf(one, "by"), textOf(one, "with")
	switch {
	case with != "":
		made.Name, made.About = "@"+by+" → @"+with, shortened(textOf(one, "id"))
	case by != "":
		made.About = "@" + by
	default:
		made.About = shortened(textOf(one, "id"))
	}
	if made.Name == "" {
		made.Name = shortened(textOf(one, "id"))
	}
	return made
}

// hitPath is the page of a hit.
func hitPath(one map[string]any) string {
	if listed := byType(textOf(one, "kind")); listed != nil {
		return listed.Path + "/" + textOf(one, "id")
	}
	return transactionsPath + textOf(one, "id")
}

// textOf is a member of an answer that is a text; empty if it is null.
func textOf(data map[string]any, name string) string {
	text, _ := data[name].(string)
	return text
}

// shortened is the end of an id, as lists show it.
func shortened(id string) string { return "…" + id[max(0, len(id)-shortID):] }
