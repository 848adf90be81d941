package console

import "net/http"

// overviewQuery is the one operation behind the overview.
const overviewQuery = `{ overview {
	activity { window begins stepSeconds agents messages orders creditsMinor }
	attention { kind count text } posing { id handle displayName }
	processes { id name version roles startedAt seenAt alive failing diskFreeBytes diskTotalBytes }
	erasures { pending partial first { bot { id handle } erasure { state requestedBy requestedAt dueAt heldBy } } }
} }`

// overviewData holds the data of the overview: the answer of overviewQuery, and its activity as charts.
type overviewData struct {
	Found   map[string]any
	Series  []series
	Windows []string
}

// needs say of each kind of thing that needs attention which page it is about, and the alert whose runbook says what to do.
var needs = map[string]struct{ Link, Alert string }{
	"ledger": {"/maintenance", "StoaLedgerDiscrepancy"}, "ledger_late": {"/jobs", "StoaLedgerNotReconciled"},
	"failed_jobs": {"/jobs/jobs?state=discarded", "StoaJobsFailing"}, "disks": {"/#processes", "StoaStorageFailing"},
	"silent_processes": {"/#processes", "StoaDown"}, "unready_processes": {"/#processes", "StoaNotReady"},
	"refused_processes": {"/#processes", "StoaConnectionsRefused"}, "orders": {"/orders?attention=stuck&sort=UPDATED_AT", ""},
	"lost_mails": {"/mails?attention=lost", "StoaMailRefused"}, "unsent_mails": {"/mails?attention=unsent", "StoaMailLate"},
	"webhooks": {"/webhooks?attention=broken", "StoaWebhooksLate"}, "feedback": {"/feedback?state=open", ""}, "reports": {"/reports?state=open", ""},
}

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

// overview shows how the service fares. Faults: service_unavailable.
func (s *console) overview(w http.ResponseWriter, r *http.Request) error {
	answer, err := s.ask(r.Context(), overviewQuery, nil)
	if err != nil {
		return err
	}
	data := overviewData{Found: object(answer, "overview")}
	windows := objects(data.Found, "activity")
	for _, window := range windows {
		data.Windows = append(data.Windows, "Last "+textOf(window, "window"))
	}
	for _, m := range measured {
		one := series{Title: m.title, Path: m.path}
		for _, window := range windows {
			one.Charts = append(one.Charts, newChart(m.title, m.unit, m.field, window))
		}
		data.Series = append(data.Series, one)
	}
	for _, p := range objects(data.Found, "processes") {
		free, total := whole(p["diskFreeBytes"]), whole(p["diskTotalBytes"])
		p["disk"], p["used"], p["full"] = "unknown", int64(0), false
		if total > 0 {
			p["disk"], p["used"], p["full"] = fileSize(free)+" of "+fileSize(total)+" free", 100-free*100/total, free*10 < total
		}
	}
	return s.show(w, r, view{template: "overview", Title: "Overview", Path: "/", Live: true, Data: data})
}
