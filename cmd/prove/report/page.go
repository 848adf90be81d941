// Package report writes what runs of the proof have shown: the chapters of one page, their charts, and a line of progress while one
// runs.
package report

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/judge"
)

// Page holds the data of the chapter of a run with faults.
type Page struct {
	Origin

	// Chapter is the one that the run is about: FaultsChapter, FailoverChapter or UpgradeChapter.
	Chapter string
	// Minutes is how long the load was meant to last, Processes how many servers stood behind the load balancer.
	Minutes, Processes int
	History            *history.History
	Findings           []judge.Finding
	// Missed says which faults were tried and not injected, and why.
	Missed []string
}

//go:embed page.md.tmpl
var pageText string

var page = Template("page", pageText)

// Write writes the chapter of a run and its chart into a folder, over those of an earlier run.
func Write(folder string, p Page) error {
	text, err := Fill(page, &p)
	if err != nil {
		return err
	}
	drawn, err := Fill(chartTemplate, newChart(p.History))
	if err != nil {
		return err
	}
	return Save(folder, Chapter{Name: p.Chapter, Text: text, Chart: drawn})
}

// Title is the heading of the chapter.
func (p *Page) Title() string {
	return map[string]string{
		FaultsChapter: "Faults", FailoverChapter: "Failover of the database", UpgradeChapter: "Servers of two versions",
	}[p.Chapter]
}

// Violations counts those of all checks.
func (p *Page) Violations() int { return judge.Violations(p.Findings) }

// Answered counts the requests that the servers answered as usual, Unavailable those that failed.
func (p *Page) Answered() int { return len(p.History.Attempts) - p.Unavailable() }

// Unavailable counts the requests without an answer and those that were answered with a status of 500 or more.
func (p *Page) Unavailable() int {
	return countFunc(p.History.Attempts, unavailable)
}

// Sockets counts the connections of the event channel that received something.
func (p *Page) Sockets() int {
	seen := make(map[int]bool)
	for i := range p.History.Deliveries {
		seen[p.History.Deliveries[i].Connection] = true
	}
	return len(seen)
}

// Faults are the faults in the order in which they began.
func (p *Page) Faults() []Fault {
	var faults []Fault
	for _, f := range inOrder(p.History.Faults) {
		failed := countFunc(p.History.Attempts, func(a *history.Attempt) bool {
			return unavailable(a) && a.Start <= f.End && a.End >= f.Start
		})
		faults = append(faults, Fault{Fault: f, Unavailable: failed})
	}
	return faults
}

// Fault is a row of the table of faults.
type Fault struct {
	history.Fault
	// Unavailable counts the requests that failed during the fault.
	Unavailable int
}

// Remark says what kind of fault it was.
func (f Fault) Remark() string {
	switch {
	case f.Graceful:
		return "graceful"
	case f.Failover:
		return "failover"
	}
	return ""
}

// Lasted is how long the cause was there, Recovery how long after that every process was ready.
func (f Fault) Lasted() time.Duration { return f.Lifted - f.Start }

// Recovery is how long after the cause was gone service was back.
func (f Fault) Recovery() time.Duration { return f.End - f.Lifted }

func unavailable(a *history.Attempt) bool { return a.Status == history.Unanswered || a.Status >= 500 }

func inOrder(faults []history.Fault) []history.Fault {
	return slices.SortedStableFunc(slices.Values(faults), func(a, b history.Fault) int { return int(a.Start - b.Start) })
}

func countFunc[T any](all []T, is func(*T) bool) int {
	sum := 0
	for i := range all {
		if is(&all[i]) {
			sum++
		}
	}
	return sum
}

// count writes a number with a comma every three digits.
func count(n int) string {
	digits := strconv.Itoa(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// cell makes a text fit for a cell of a table.
func cell(text string) string { return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text) }

// clock writes a time of the run as minutes and seconds.
func clock(t time.Duration) string {
	whole := int(t.Round(time.Second).Seconds())
	return fmt.Sprintf("%d:%02d", whole/60, whole%60)
}

func seconds(t time.Duration) string { return fmt.Sprintf("%.1f s", t.Seconds()) }

func milliseconds(t time.Duration) string { return fmt.Sprintf("%.1f ms", 1000*t.Seconds()) }
