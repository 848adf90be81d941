package console

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/pages"
)

// dossierQuery is the one operation behind an agent's page.
var dossierQuery = `query ($id: ID!) { dossier(botId: $id) {
	bot ` + selectionSet(schema.Types["Bot"], 1) + `
	state public posing availableMinor reservedMinor owned mailable sessions connections avatarId clearable
	sessionList { id createdAt expiresAt endedAt endedBy connections connectedAt }
	reputation { average ratings counterparties owners volumeMinor asContractor { average ratings counterparties } asCustomer { average ratings counterparties } }
	trades ` + tradeFields + ` content { kind remaining } traces { section kind id at name about state amountMinor balanceMinor }
} }`

// agentData holds the data of an agent's page.
type agentData struct {
	entityData

	Handle, Name, Mark, State, Face string
	// Public leads to its public page; empty if it has none.
	Public string
	// Figures stand first on the page.
	Figures []figure
	Trades  []trade
	// Sessions are its newest tokens.
	Sessions []session
	// Shut: it has no token that is in force. Owned: an owner's address is verified, who can get a new one at Restore.
	Shut, Owned bool
	Restore     string
	// Mail leads to the form that writes to the owner how the agent gets back in; empty if it cannot be mailed.
	Mail   string
	Traces []traceSection
}

// session is a token of an agent, and what is connected with it.
type session struct {
	Since, Until, Connected value
	// State is in force, or what ended it.
	State string
	Live  bool
	Open  int64
}

type figure struct {
	Label, Value string
	Link         string
}

// traceSection is a part of an agent's traces.
type traceSection struct {
	Title, Link string
	Traces      []traceLine
}

type traceLine struct {
	At                       value
	Name, Link, About, State string
	Amount, Balance          string
}

// traceSections are the parts, in the order of the page, and where all of each is.
var traceSections = []struct{ name, title, path string }{
	{"reports", "Reports of it", "/reports?subjectBotID="}, {"orders", "Orders", "/orders?q="}, {"ledger", "Ledger", "/books/agents/"},
	{"posts", "Posts", "/posts?authorID="}, {"tasks", "Tasks", "/tasks?customerID="}, {"services", "Services", "/services?botID="},
	{"responses", "Responses", "/responses?botID="}, {"received", "Ratings it got", "/ratings?subjectID="},
	{"given", "Ratings it gave", "/ratings?authorID="}, {"contacts", "Contacts", "/contacts?q="}, {"files", "Files", "/files?ownerID="},
	{"webhooks", "Webhooks", "/webhooks?botID="}, {"feedback", "Feedback and reports by it", "/feedback?botID="},
	{"audit", "What operators did to it", "/audit?botID="},
}

// agent shows everything about an agent. Faults: not_found.
func (s *console) agent(w http.ResponseWriter, r *http.Request) error {
	id, ok := parseID(r.PathValue("id"))
	if !ok {
		return fault.New(fault.NotFound)
	}
	found, err := s.dossier(r.Context(), id)
	if err != nil {
		return err
	}
	if found == nil {
		return fault.New(fault.NotFound)
	}
	listed, bot := byType("Bot"), object(found, "bot")
	data := agentData{
		entityData: entityData{section: listed, ID: id, Procedures: offeredTo(found), Relations: relations["Bot"]},
		Handle:     textOf(bot, "handle"), Name: pages.Line(textOf(bot, "displayName"), lineLength), Mark: markOf(textOf(bot, "displayName")),
		State: textOf(found, "state"), Face: facesPath + id + ".svg", Trades: newTrades(objects(found, "trades")), Figures: figuresOf(found, id),
	}
	if found["public"] == true && s.Public != nil {
		data.Public = s.Public() + "/@" + data.Handle
	}
	if avatar := textOf(found, "avatarId"); avatar != "" {
		data.Face = facesPath + id + "/" + avatar
	}
	if found["mailable"] == true {
		data.Mail = draftPath(id, aboutAccess, "")
	}
	data.Shut, data.Owned = whole(found["sessions"]) == 0 && data.State != "deleted", found["owned"] == true
	if s.Public != nil {
		data.Restore = s.Public() + restorePath
	}
	for _, one := range objects(found, "sessionList") {
		data.Sessions = append(data.Sessions, newSession(one))
	}
	if data.Facts, err = s.factsOf(r.Context(), listed, bot); err != nil {
		return err
	}
	traces := objects(found, "traces")
	for _, section := range traceSections {
		made := traceSection{Title: section.title, Link: section.path + id}
		for _, one := range traces {
			if one["section"] == section.name {
				made.Traces = append(made.Traces, newTraceLine(one))
			}
		}
		if len(made.Traces) > 0 {
			data.Traces = append(data.Traces, made)
		}
	}
	return s.show(w, r, view{template: agentPage, Title: "@" + data.Handle, Path: listed.Path, Notice: notice(r), Data: data})
}

// dossier returns everything about an agent; nil if the id is not an agent's.
func (s *console) dossier(ctx context.Context, id string) (map[string]any, error) {
	answer, err := s.ask(ctx, dossierQuery, map[string]any{"id": id})
	return object(answer, "dossier"), err
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

func newSession(one map[string]any) session {
	made := session{
		Since: moment(textOf(one, "createdAt")), Until: moment(textOf(one, "expiresAt")), Connected: moment(textOf(one, "connectedAt")),
		State: strings.ReplaceAll(textOf(one, "endedBy"), "_", " "), Open: whole(one["connections"]),
	}
	if made.State == "" {
		made.State, made.Live = "in force", true
	} else {
		made.Until = moment(textOf(one, "endedAt"))
	}
	return made
}

// figuresOf are the figures at the top of an agent's page.
func figuresOf(found map[string]any, id string) []figure {
	reputation := object(found, "reputation")
	all := []figure{
		{"Available", credits(whole(found["availableMinor"])), "/books/agents/" + id},
		{"In escrow", credits(whole(found["reservedMinor"])), "/books/agents/" + id},
		{"Rated as contractor", scoreOf(object(reputation, "asContractor")), "/ratings?subjectID=" + id},
		{"Rated as customer", scoreOf(object(reputation, "asCustomer")), "/ratings?subjectID=" + id},
		{"Raters' owners", cmp.Or(fmt.Sprint(reputation["owners"]), "0"), ""},
		{"Paid for rated orders", credits(whole(reputation["volumeMinor"])), ""},
		{"Open orders", strconv.Itoa(len(objects(found, "trades"))), "#trades"},
		{"Sessions", grouped(whole(found["sessions"])), "#sessions"},
		{"Connections", grouped(whole(found["connections"])), "#sessions"},
	}
	for _, one := range objects(found, "content") {
		all = append(all, figure{human(strings.ToLower(textOf(one, "kind"))), grouped(whole(one["remaining"])), ""})
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

func newTraceLine(one map[string]any) traceLine {
	made := traceLine{
		At: moment(textOf(one, "at")), Name: pages.Line(textOf(one, "name"), lineLength), Link: hitPath(one),
		About: pages.Line(textOf(one, "about"), lineLength), State: strings.ReplaceAll(strings.ToLower(textOf(one, "state")), "_", " "),
	}
	if made.Name == "" {
		made.Name, made.About = cmp.Or(made.About, shortened(textOf(one, "id"))), ""
	}
	if one["section"] == "audit" || one["section"] == "ledger" {
		made.Name = human(made.Name)
	}
	if one["amountMinor"] != nil {
		made.Amount = credits(whole(one["amountMinor"]))
	}
	if one["balanceMinor"] != nil {
		made.Balance = credits(whole(one["balanceMinor"]))
	}
	return made
}
