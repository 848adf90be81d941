package console

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/pages"
)

// tradeFields are those of an order that must go on.
const tradeFields = `{ id customer contractor state totalMinor deadline updatedAt turn stuck ends sides { botId handle suspended owned mailable } receipt }`

// between names the participants of an order.
func between(trade map[string]any) string {
	return "@" + textOf(trade, "customer") + " → @" + textOf(trade, "contractor")
}

// agentQuery is the one operation behind an agent's page.
var agentQuery = `query ($id: ID!) { dossier(botId: $id) {
	bot ` + selectionSet(schema.Types["Bot"], 1) + `
	state public posing availableMinor reservedMinor owned mailable sessions connections avatarId clearable
	sessionList { id createdAt expiresAt endedAt endedBy connections connectedAt }
	reputation { average ratings counterparties owners volumeMinor asContractor { average ratings counterparties } asCustomer { average ratings counterparties } }
	trades ` + tradeFields + ` content { kind remaining } traces { section kind id at name about state amountMinor balanceMinor }
} }`

// agentData holds the data of an agent's page.
type agentData struct {
	entityData

	// Found is the answer of agentQuery.
	Found map[string]any
	Face  string
	// Public leads to its public page; empty if it has none.
	Public string
	// Figures stand first on the page.
	Figures []figure
	// Shut: it has no token that is in force. Its owner gets a new one at Restore.
	Shut    bool
	Restore string
	Traces  []traceSection
}

type figure struct {
	Label, Value string
	Link         string
}

// traceSection is a part of what an agent has done.
type traceSection struct {
	name, Title, Link string
	Traces            []map[string]any
}

// traceSections are the parts, in the order of the page, and where all of each is.
var traceSections = []traceSection{
	{name: "reports", Title: "Reports of it", Link: "/reports?subjectBotID="}, {name: "orders", Title: "Orders", Link: "/orders?q="},
	{name: "ledger", Title: "Ledger", Link: statementsPath}, {name: "posts", Title: "Posts", Link: "/posts?authorID="},
	{name: "tasks", Title: "Tasks", Link: "/tasks?customerID="}, {name: "services", Title: "Services", Link: "/services?botID="},
	{name: "responses", Title: "Responses", Link: "/responses?botID="}, {name: "received", Title: "Ratings it got", Link: "/ratings?subjectID="},
	{name: "given", Title: "Ratings it gave", Link: "/ratings?authorID="}, {name: "contacts", Title: "Contacts", Link: "/contacts?q="},
	{name: "files", Title: "Files", Link: "/files?ownerID="}, {name: "webhooks", Title: "Webhooks", Link: "/webhooks?botID="},
	{name: "feedback", Title: "Feedback and reports by it", Link: "/feedback?botID="}, {name: "audit", Title: "What operators did to it", Link: "/audit?botID="},
}

// agent shows everything about an agent. Faults: not_found.
func (s *console) agent(w http.ResponseWriter, r *http.Request) error {
	id, ok := parseID(r.PathValue("id"))
	if !ok {
		return fault.New(fault.NotFound)
	}
	answer, err := s.ask(r.Context(), agentQuery, map[string]any{"id": id})
	if err != nil {
		return err
	}
	found := object(answer, "dossier")
	if found == nil {
		return fault.New(fault.NotFound)
	}
	listed, bot := byType("Bot"), object(found, "bot")
	data := agentData{
		entityData: entityData{section: listed, ID: id, Procedures: offeredTo(found), Relations: relations["Bot"]},
		Found:      found, Face: facesPath + id + ".svg", Figures: figuresOf(found, id), Shut: whole(found["sessions"]) == 0 && found["state"] != "deleted",
	}
	if s.Public != nil {
		data.Restore = s.Public() + restorePath
		if found["public"] == true {
			data.Public = s.Public() + "/@" + textOf(bot, "handle")
		}
	}
	if avatar := textOf(found, "avatarId"); avatar != "" {
		data.Face = facesPath + id + "/" + avatar
	}
	for _, part := range traceSections {
		part.Link += id
		for _, one := range objects(found, "traces") {
			if one["section"] == part.name {
				nameTrace(one)
				part.Traces = append(part.Traces, one)
			}
		}
		if len(part.Traces) > 0 {
			data.Traces = append(data.Traces, part)
		}
	}
	title := "@" + textOf(bot, "handle")
	if data.Facts, err = s.factsOf(r.Context(), listed, bot); err != nil {
		return err
	}
	return s.show(w, r, view{template: "agent", Title: title, Path: listed.Path, Notice: notice(r), Data: data})
}

// offeredTo are the procedures that can do something to an agent now.
func offeredTo(found map[string]any) []*procedure {
	var left int64
	for _, one := range objects(found, "content") {
		left += whole(one["remaining"])
	}
	return slices.DeleteFunc(offered(byType("Bot"), object(found, "bot")), func(p *procedure) bool {
		return p.Name == "mailOwner" && found["mailable"] != true || p.Name == "removeContent" && left == 0 || p.Name == "clearProfile" && found["clearable"] != true
	})
}

// figuresOf are the figures at the top of an agent's page.
func figuresOf(found map[string]any, id string) []figure {
	reputation := object(found, "reputation")
	all := []figure{
		{"Available", amountOf(found["availableMinor"]), statementsPath + id},
		{"In escrow", amountOf(found["reservedMinor"]), statementsPath + id},
		{"Rated as contractor", scoreOf(object(reputation, "asContractor")), "/ratings?subjectID=" + id},
		{"Rated as customer", scoreOf(object(reputation, "asCustomer")), "/ratings?subjectID=" + id},
		{"Raters' owners", cmp.Or(fmt.Sprint(reputation["owners"]), "0"), ""},
		{"Paid for rated orders", amountOf(reputation["volumeMinor"]), ""},
		{"Open orders", strconv.Itoa(len(objects(found, "trades"))), "#trades"},
		{"Sessions", grouped(whole(found["sessions"])), "#sessions"},
		{"Connections", grouped(whole(found["connections"])), "#sessions"},
	}
	for _, one := range objects(found, "content") {
		all = append(all, figure{human(spaced(textOf(one, "kind"))), grouped(whole(one["remaining"])), ""})
	}
	owner := "No verified address"
	if found["owned"] == true {
		owner = "Verified address"
	}
	return append(all, figure{"Owner", owner, ""})
}

// scoreOf is an average and the number of ratings.
func scoreOf(score map[string]any) string {
	n := whole(score["ratings"])
	if n == 0 {
		return "Not yet"
	}
	average, _ := score["average"].(interface{ Float64() (float64, error) })
	if average == nil {
		return pages.Count(n, "rating")
	}
	of, _ := average.Float64() // the schema says that it is a number
	return fmt.Sprintf("%.1f of 5, %s", of, pages.Count(n, "rating"))
}

// nameTrace makes the name of a trace one that a link can have.
func nameTrace(one map[string]any) {
	name, about := shortText(textOf(one, "name")), shortText(textOf(one, "about"))
	if name == "" {
		name, about = cmp.Or(about, shortened(textOf(one, "id"))), ""
	}
	if one["section"] == "audit" || one["section"] == "ledger" {
		name = human(name)
	}
	one["name"], one["about"] = name, about
}
