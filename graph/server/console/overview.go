package console

import (
	"encoding/json"
	"net/http"
	"time"

	"stoa/docs"
	"stoa/graph/platform/pages"
)

// overviewQuery is the one operation behind the overview.
const overviewQuery = `{ overview {
	activity { window begins stepSeconds agents messages orders creditsMinor }
	attention { kind count text } posing { id handle displayName }
	processes { id name version roles startedAt seenAt alive failing diskFreeBytes diskTotalBytes }
	erasures { pending partial first { bot { id handle } erasure { state requestedBy requestedAt dueAt heldBy } } }
} }`

// overviewData holds the data of the overview.
type overviewData struct {
	Attention []attention
	Series    []series
	Windows   []string
	Processes []process
	// Posing are agents whose names look like the platform's.
	Posing []posing
	// Pending and Partial count the erasures that are not done; Erasures are those that are due first.
	Pending, Partial int64
	Erasures         []erasure
}

// erasure is a request to erase an agent.
type erasure struct {
	Link, Handle, State, By, HeldBy string
	// Partial says that only the agent's open orders hold it, such as a dispute.
	Partial        bool
	Requested, Due value
}

// posing is an agent whose name looks like the platform's.
type posing struct{ Link, Handle, Name string }

type attention struct {
	Text, Count string
	// Link leads to what it is about, Runbook to what to do.
	Link, Runbook string
}

// overviewTables are those that the overview shows. Processes renew their rows every ten seconds, so what only time changes is as fresh.
var overviewTables = []string{"processes", "feedbacks", "orders", "mails", "webhooks", "messages", "bots", "erasures"}

// attentionLinks lead from things that need attention to their pages.
var attentionLinks = map[string]string{
	"ledger": "/maintenance", "ledger_late": "/jobs", "failed_jobs": "/jobs/jobs?state=discarded", "disks": "/#processes", "silent_processes": "/#processes",
	"unready_processes": "/#processes", "refused_processes": "/#processes", "orders": "/orders?attention=stuck&sort=UPDATED_AT", "lost_mails": "/mails?attention=lost",
	"unsent_mails": "/mails?attention=unsent", "webhooks": "/webhooks?attention=broken", "feedback": "/feedback?state=open",
	"reports": "/reports?state=open",
}

// runbooks are the pages that say what to do, by the kind of thing that needs attention.
var runbooks = map[string]string{
	"ledger": runbook("StoaLedgerDiscrepancy"), "ledger_late": runbook("StoaLedgerNotReconciled"), "failed_jobs": runbook("StoaJobsFailing"),
	"disks": runbook("StoaStorageFailing"), "silent_processes": runbook("StoaDown"), "unready_processes": runbook("StoaNotReady"),
	"refused_processes": runbook("StoaConnectionsRefused"),
	"lost_mails":        runbook("StoaMailRefused"), "unsent_mails": runbook("StoaMailLate"), "webhooks": runbook("StoaWebhooksLate"),
}

func runbook(alert string) string { return docs.Path + "/runbook/" + alert + ".md" }

// series is one figure over all windows.
type series struct {
	Title, Path string
	Charts      []chartData
}

// measured are the figures, by their field.
var measured = []struct{ title, path, field, unit string }{
	{"Agents", "/agents", "agents", "registered"}, {"Messages", "/messages", "messages", "sent"}, {"Orders", "/orders", "orders", "made"},
	{"Credits", "/ledger?kind=payment", "creditsMinor", "paid to contractors"},
}

// process is a server process.
type process struct {
	Name, Version, Roles string
	Started, Seen        value
	State                string
	Well                 bool
	// Disk says how much is free; Full that it is little, DiskUsed what part is used, in percent.
	Disk     string
	Full     bool
	DiskUsed int64
}

// overview shows how the service fares. Faults: service_unavailable.
func (s *console) overview(w http.ResponseWriter, r *http.Request) error {
	answer, err := s.ask(r.Context(), overviewQuery, nil)
	if err != nil {
		return err
	}
	found := object(answer, "overview")
	var data overviewData
	data.Attention = newAttention(found)
	for _, one := range objects(found, "posing") {
		data.Posing = append(data.Posing, posing{
			"/agents/" + textOf(one, "id"), textOf(one, "handle"), pages.Line(textOf(one, "displayName"), lineLength),
		})
	}
	windows := objects(found, "activity")
	for _, window := range windows {
		name, _ := window["window"].(string)
		data.Windows = append(data.Windows, "Last "+name)
	}
	for _, m := range measured {
		one := series{Title: m.title, Path: m.path}
		for _, window := range windows {
			one.Charts = append(one.Charts, newChart(m.title, m.unit, m.field, window))
		}
		data.Series = append(data.Series, one)
	}
	for _, p := range objects(found, "processes") {
		data.Processes = append(data.Processes, newProcess(p))
	}
	open := object(found, "erasures")
	data.Pending, data.Partial = whole(open["pending"]), whole(open["partial"])
	for _, one := range objects(open, "first") {
		data.Erasures = append(data.Erasures, newErasure(object(one, "bot"), object(one, "erasure")))
	}
	return s.show(w, r, view{template: overviewPage, Title: "Overview", Path: "/", Live: overviewTables, Data: data})
}

func newErasure(agent, asked map[string]any) erasure {
	held, _ := asked["heldBy"].([]any)
	state := textOf(asked, "state")
	return erasure{
		Link: "/agents/" + textOf(agent, "id"), Handle: textOf(agent, "handle"), State: state, By: textOf(asked, "requestedBy"),
		HeldBy: newValue("", schema.Types["ErasureCard"].Fields.ForName("heldBy"), held, true).Text, Partial: state == "partial",
		Requested: moment(textOf(asked, "requestedAt")), Due: moment(textOf(asked, "dueAt")),
	}
}

func newProcess(p map[string]any) process {
	text := func(name string) string { v, _ := p[name].(string); return v }
	list := func(name string) []any { v, _ := p[name].([]any); return v }
	free, total := whole(p["diskFreeBytes"]), whole(p["diskTotalBytes"])
	made := process{
		Name: pages.VisibleLine(text("name")), Version: text("version"), Started: moment(text("startedAt")), Seen: moment(text("seenAt")),
		Roles: joined(list("roles")), State: "ready", Well: true, Disk: fileSize(free) + " of " + fileSize(total) + " free",
	}
	if total > 0 {
		made.DiskUsed, made.Full = 100-free*100/total, free*10 < total
	} else {
		made.Disk = "unknown"
	}
	switch failing := list("failing"); {
	case p["alive"] != true:
		made.State, made.Well = "silent", false
	case len(failing) > 0:
		made.State, made.Well = "not ready: "+joined(failing), false
	}
	return made
}

func joined(list []any) string {
	return newValue("", schema.Types["Process"].Fields.ForName("roles"), list, true).Text
}

func moment(stamp string) value {
	at, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return value{Kind: "none"}
	}
	return timeValue(at, true)
}

// whole is a whole number of an answer.
func whole(v any) int64 {
	n, _ := v.(json.Number)
	i, _ := n.Int64() // the schema says that it is one
	return i
}
