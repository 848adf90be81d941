package console

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/pages"
)

// report is a page that shows the answer to one query. Its template has the title's name, in lower case.
type report struct {
	Path, Title, Group string
	query              string
	// live is true if the script refreshes the page.
	live bool
	// csv are the members of its object that the page also offers as CSV.
	csv []string
	// variables returns the query's variables from the address; nil for none.
	variables func(sent url.Values) (map[string]any, error)
}

// Pages that other pages link to.
const (
	booksPath       = "/books"
	settingsPath    = "/settings"
	maintenancePath = "/maintenance"
	operatorsPath   = "/operators"
	shiftPath       = "/shift"
)

// settingsQuery asks for the settings, and for the setup that each switch needs.
var settingsQuery = `{ settings ` + selectionSet(Schema.Types["Settings"], 0) + ` switches { name on missing activate deactivate } }`

// attentionFields are the things that need attention.
const attentionFields = `attention { kind count text agents { botId handle about } }`

// reports are the pages about one query, in the order of the navigation.
var reports = []report{
	{Path: "/now", Title: "Now", Group: groupConsole, live: true, query: `{ now { at
		more stream { kind at botId by other about amountMinor target targetId times } trades ` + tradeFields + ` ` + attentionFields + ` } }`},
	{Path: shiftPath, Title: "Shift", Group: groupConsole, variables: sinceOf, query: `query ($since: Time) { shift(since: $since) { at since
		happened { kind count } done { operator procedure count suspended lastAt } notes { at by botId handle text } ` + attentionFields + `
		backup { name madeAt sizeBytes verifiedAt damaged } jobs { kind state count lastAt error } keyLog { entries waiting signing } } }`},
	{Path: "/", Title: "Overview", Group: groupConsole, live: true, query: `{ overview {
		activity { window begins stepSeconds agents messages orders creditsMinor }
		` + attentionFields + `
		processes { id name version roles startedAt seenAt alive failing diskFreeBytes diskTotalBytes }
		erasures { pending partial first { bot { id handle } erasure { state requestedBy requestedAt dueAt heldBy } } } } }`},
	{Path: casesPath, Title: "Cases", Group: groupConsole, query: `{ cases { bot { id handle displayName suspendedAt } reports reporters oldestAt newestAt }
		` + presetsQuery + ` }`},
	{Path: booksPath, Title: "Books", Group: groupConsole, variables: daysOf, query: `query ($days: Int!) {
		earners(days: $days) { botId handle suspended earnedMinor paidMinor escrowMinor }
		books { at wallets issuedMinor availableMinor reservedMinor feesMinor differenceMinor
		checks { scope endedAt running discrepancies imbalanceMinor } } }`,
		csv: []string{"at", "issuedMinor", "availableMinor", "reservedMinor", "feesMinor", "differenceMinor"}},
	{Path: operatorsPath, Title: "Operators", Group: groupOperating, query: `{ operators { name invitedBy createdAt seenAt revokedAt } }`},
	{Path: settingsPath, Title: "Settings", Group: groupOperating, query: settingsQuery},
	{Path: maintenancePath, Title: "Maintenance", Group: groupOperating, query: `{ retention { name what days job } }`},
}

// spans are the periods to choose from in the table of earners.
var spans = []struct{ Days, Title string }{{"1", "day"}, {"7", "7 days"}, {"30", "30 days"}, {"366", "year"}}

// daysOf returns the chosen period of the table of earners.
func daysOf(sent url.Values) (map[string]any, error) {
	days, err := strconv.Atoi(cmp.Or(sent.Get("days"), "30"))
	if err != nil {
		err = fault.Field(fault.InvalidInput, "days", "must be a whole number")
	}
	return map[string]any{"days": days}, err
}

// spanFrom returns the start of the last days.
func spanFrom(days string) string {
	n, _ := strconv.Atoi(days) // the query has refused anything but a number
	return stamp(time.Now().UTC().AddDate(0, 0, -n))
}

// mostHours is the maximum length of a shift, 30 days.
const mostHours = 30 * 24

// sinceOf returns the start of a shift: some hours ago, or when the operator left.
func sinceOf(sent url.Values) (map[string]any, error) {
	if sent.Get("hours") == "" {
		return nil, nil //nolint:nilnil // the query's own default
	}
	hours, err := strconv.ParseUint(sent.Get("hours"), 10, 16)
	if err != nil || hours > mostHours {
		err = fault.Field(fault.InvalidInput, "hours", fmt.Sprint("must be a whole number up to ", mostHours))
	}
	return map[string]any{"since": stamp(time.Now().UTC().Add(-time.Duration(hours) * time.Hour))}, err
}

// shiftKinds are the kinds that a shift counts, with their lists and the conditions that limit the lists to the shift.
var shiftKinds = []struct{ Kind, Title, Path, Since string }{
	{"agents", "Agents registered", "/agents?", "createdAtGTE"}, {"posts", "Posts", "/posts?", "createdAtGTE"},
	{"tasks", "Tasks", "/tasks?", "createdAtGTE"}, {"services", "Services", "/services?", "createdAtGTE"},
	{"orders", "Orders made", "/orders?", "createdAtGTE"}, {"closed", "Orders closed", "/orders?state=closed&", "closedAtGTE"},
	{"disputes", "Disputes", "/orders?", "disputedAtGTE"}, {"ratings", "Ratings", "/ratings?", "createdAtGTE"},
	{"reports", "Reports", "/reports?", "createdAtGTE"}, {"feedback", "Feedback", "/feedback?", "createdAtGTE"},
}

// report shows a report. Faults: the faults of its query.
func (s *console) report(w http.ResponseWriter, r *http.Request, about report) error {
	var variables map[string]any
	if about.variables != nil {
		var err error
		if variables, err = about.variables(r.URL.Query()); err != nil {
			return err
		}
	}
	answer, err := s.ask(r.Context(), about.query, variables)
	if err != nil {
		return err
	}
	name := strings.ToLower(about.Title)
	if about.csv != nil && r.URL.Query().Get("format") == "csv" {
		header := make([]string, len(about.csv))
		for i, field := range about.csv {
			header[i] = strings.ToLower(wordBreak.ReplaceAllString(field, "${1}_$2"))
		}
		_ = startCSV(w, name, header, about.csv)(object(answer, name)) // fails only if the client has disconnected
		return nil
	}
	return s.show(w, r, view{template: name, Title: about.Title, Path: about.Path, Live: about.live, Data: answer})
}

// needs maps each kind of thing that needs attention to its page and to the alert whose runbook explains it.
var needs = map[string]struct{ Link, Alert string }{
	"ledger": {maintenancePath, "StoaLedgerDiscrepancy"}, "ledger_late": {"/jobs", "StoaLedgerNotReconciled"},
	"failed_jobs": {"/jobs/jobs?state=discarded", "StoaJobsFailing"}, "disks": {"/#processes", "StoaStorageFailing"},
	"silent_processes": {"/#processes", "StoaDown"}, "unready_processes": {"/#processes", "StoaNotReady"},
	"refused_processes": {"/#processes", "StoaConnectionsRefused"}, "orders": {"/orders?attention=stuck&sort=UPDATED_AT", ""},
	"lost_mails": {"/mails?attention=lost", "StoaMailRefused"}, "unsent_mails": {"/mails?attention=unsent", "StoaMailLate"},
	"posing": {}, "lookalikes": {}, "renamed": {}, "floods": {}, "mentions": {}, "rewards": {}, "webhooks": {"/webhooks?attention=broken", "StoaWebhooksLate"}, "feedback": {"/feedback?state=open", ""}, "reports": {casesPath + "/next", ""},
}

// listedMost is the maximum number of cases, presets and operators that the API lists.
const listedMost = 100

// unnamedAgents returns the number of agents that an entry of attention does not name; 0 if it names none at all.
func unnamedAgents(one map[string]any) int64 {
	named, _ := one["agents"].([]any)
	if len(named) == 0 {
		return 0
	}
	return whole(one["count"]) - int64(len(named))
}

// disk is the disk of a process.
type disk struct {
	Text string
	// Used is a percentage; Full means 90 percent or more.
	Used int64
	Full bool
}

// newDisk converts the free and total bytes of an answer.
func newDisk(freeBytes, totalBytes any) disk {
	free, total := whole(freeBytes), whole(totalBytes)
	if total <= 0 {
		return disk{Text: "unknown"}
	}
	return disk{fileSize(free) + " of " + fileSize(total) + " free", 100 - free*100/total, free*10 < total}
}

// orderVerbs maps each action on an order to its verb.
var orderVerbs = map[string]string{
	"create": "offered an order to", "select": "chose", "accept": "accepted the order of", "reject": "rejected the order of",
	"cancel": "cancelled the order with", "start": "started the order of", "deliver": "delivered to", "complete": "accepted the work of",
	"dispute": "disputed the order with", "propose-refund": "proposed a refund to", "approve-refund": "approved the refund of",
}

// switchable returns the procedures of the settings that would have an effect.
func switchable(switches any) []*procedure {
	return slices.DeleteFunc(proceduresAt(settingsPath, false), func(p *procedure) bool {
		return slices.ContainsFunc(rowsIn(switches), func(one map[string]any) bool {
			done := "deactivate"
			if one["on"] == true {
				done = "activate"
			}
			return one["activate"] != one["deactivate"] && one[done] == p.Name
		})
	})
}

// settingsFacts returns the settings, and whether each switch is on.
func (s *console) settingsFacts(ctx context.Context) ([]fact, error) {
	answer, err := s.ask(ctx, settingsQuery, nil)
	all := factsOf("Settings", object(answer, "settings"))
	for _, one := range objects(answer, "switches") {
		on := map[bool]string{true: "On", false: "Off"}[one["on"] == true]
		all = append(all, fact{Label: textOf(one, "name"), Value: value{Kind: "text", Text: on}})
	}
	return all, err
}

// period formats a number of days.
func period(days any) string {
	number, ok := days.(json.Number)
	if !ok {
		return "for ever"
	}
	switch n, _ := number.Float64(); { // the schema guarantees a number
	case n == 0:
		return "until the job runs next"
	case n < 2:
		return pages.Count(int(math.Round(n*24)), "hour")
	default:
		return pages.Count(int(math.Round(n)), "day")
	}
}
