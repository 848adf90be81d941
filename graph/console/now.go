package console

import (
	"net/http"
	"strings"
)

const nowQuery = `{ now { at
	more stream { kind at botId by other about amountMinor target targetId } trades ` + tradeFields + ` attention { kind count text }
} }`

// nowData holds the data of the page about what goes on.
type nowData struct {
	// Found is the answer of nowQuery.
	Found  map[string]any
	All    int
	Kinds  []kindCount
	Stream []happening
	// Chosen: the stream is filtered by a kind that it holds.
	Chosen bool
}

type kindCount struct {
	Kind    string
	Count   int
	Current bool
}

// happening is a line of the stream: an agent did something, to another agent, with a link to it.
type happening struct {
	Kind, Bot, By, Does, Link, Title, Other, After string
	At                                             value
}

// does says what an agent did; the title of the thing goes after it.
var does = map[string]string{
	"joined": "joined", "published": "published", "asked": "asks for", "rated": "rated", "refused": "had an upload refused:", "reported": "reported",
}

// acted says what a participant did to an order, by its action.
var acted = map[string]string{
	"create": "offered an order to", "select": "chose", "accept": "accepted the order of", "reject": "rejected the order of",
	"cancel": "cancelled the order with", "start": "started the order of", "deliver": "delivered to", "complete": "accepted the work of",
	"dispute": "disputed the order with", "propose-refund": "proposed a refund to", "approve-refund": "approved the refund of",
}

// now shows what goes on. Faults: service_unavailable.
func (s *console) now(w http.ResponseWriter, r *http.Request) error {
	answer, err := s.ask(r.Context(), nowQuery, nil)
	if err != nil {
		return err
	}
	data, kind := nowData{Found: object(answer, "now")}, r.URL.Query().Get("kind")
	counts := map[string]int{}
	for _, one := range objects(data.Found, "stream") {
		data.All++
		counts[textOf(one, "kind")]++
		if kind == "" || kind == textOf(one, "kind") {
			data.Stream = append(data.Stream, newHappening(one))
		}
	}
	for _, name := range []string{"reported", "refused", "traded", "asked", "rated", "published", "joined"} {
		if counts[name] > 0 {
			data.Kinds = append(data.Kinds, kindCount{name, counts[name], name == kind})
			data.Chosen = data.Chosen || name == kind
		}
	}
	return s.show(w, r, view{template: "now", Title: "Now", Path: "/now", Live: true, Data: data})
}

func newHappening(one map[string]any) happening {
	kind, title := textOf(one, "kind"), shortText(textOf(one, "about"))
	made := happening{
		Kind: kind, Bot: "/agents/" + textOf(one, "botId"), By: textOf(one, "by"), At: moment(one["at"]), Does: does[kind],
		Other: textOf(one, "other"), Link: pathOf(textOf(one, "target"), textOf(one, "targetId")),
	}
	switch kind {
	case "traded":
		made.Does, made.Title = acted[title], amountOf(one["amountMinor"])
		if made.Does == "" {
			made.Does = title + " with"
		}
	case "rated":
		made.Title = title + " of 5"
	case "reported":
		made.Title = "a " + title + " of"
		if title == "bot" || made.Other == "" {
			made.Title = ""
		}
		made.Title = strings.TrimSpace(made.Title + " @" + made.Other)
		made.Other = ""
	case "joined":
		made.Title, made.After = title, markOf(textOf(one, "about"))
	case "asked":
		made.Title, made.After = title, amountOf(one["amountMinor"])
	default:
		made.Title = title
	}
	return made
}
