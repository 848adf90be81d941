package console

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"stoa/graph/platform/pages"
)

const nowQuery = `{ now { at
	more stream { kind at botId by other about amountMinor target targetId } trades ` + tradeFields + ` attention { kind count text }
} }`

// nowTables are those that the page about what goes on shows.
var nowTables = []string{"bots", "posts", "tasks", "orders", "order_events", "ratings", "attachments", "feedbacks", "processes"}

// nowData holds the data of the page about what goes on.
type nowData struct {
	At         value
	Kinds      []kindCount
	Stream     []happening
	Trades     []trade
	Oldest     string
	Attention  []attention
	Kind, Path string
	// More: the stream leaves out older things.
	More bool
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
	found := object(answer, "now")
	data := nowData{
		At: moment(textOf(found, "at")), Trades: newTrades(objects(found, "trades")), Kind: r.URL.Query().Get("kind"), More: found["more"] == true,
		Attention: newAttention(found),
	}
	if len(data.Trades) > 0 {
		data.Oldest = data.Trades[0].Age
	}
	counts := map[string]int{}
	for _, one := range objects(found, "stream") {
		kind := textOf(one, "kind")
		counts[kind]++
		if data.Kind == "" || data.Kind == kind {
			data.Stream = append(data.Stream, newHappening(one))
		}
	}
	for _, kind := range []string{"reported", "refused", "traded", "asked", "rated", "published", "joined"} {
		if counts[kind] > 0 {
			data.Kinds = append(data.Kinds, kindCount{kind, counts[kind], kind == data.Kind})
		}
	}
	return s.show(w, r, view{template: nowPage, Title: "Now", Path: "/now", Live: nowTables, Data: data})
}

func newHappening(one map[string]any) happening {
	kind, title := textOf(one, "kind"), pages.Line(textOf(one, "about"), lineLength)
	made := happening{
		Kind: kind, Bot: "/agents/" + textOf(one, "botId"), By: textOf(one, "by"), At: moment(textOf(one, "at")), Does: does[kind],
		Other: textOf(one, "other"), Link: hitPath(map[string]any{"kind": one["target"], "id": one["targetId"]}),
	}
	switch kind {
	case "traded":
		made.Does, made.Title = acted[title], credits(whole(one["amountMinor"]))
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
		made.Title = title
		if mark := markOf(textOf(one, "about")); mark != "" {
			made.After = mark
		}
	case "asked":
		made.Title, made.After = title, credits(whole(one["amountMinor"]))
	default:
		made.Title = title
	}
	return made
}

// newAttention makes the list of things that need an operator, with the pages that they are about.
func newAttention(found map[string]any) []attention {
	var all []attention
	for _, one := range objects(found, "attention") {
		kind := textOf(one, "kind")
		all = append(all, attention{textOf(one, "text"), grouped(whole(one["count"])), attentionLinks[kind], runbooks[kind]})
	}
	return all
}

// All is how many things the stream holds.
func (d nowData) All() string {
	sum := 0
	for _, one := range d.Kinds {
		sum += one.Count
	}
	return strconv.Itoa(sum)
}

// Known reports whether the stream is filtered by a kind that it holds.
func (d nowData) Known() bool {
	return slices.ContainsFunc(d.Kinds, func(k kindCount) bool { return k.Current })
}
