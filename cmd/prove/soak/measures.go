package soak

import (
	"maps"
	"slices"
	"time"

	"stoa/cmd/prove/mix"
)

// Resources of each server.
const (
	anonymousMemory = "anonymous memory, MiB,"
	residentMemory  = "resident memory, MiB,"
	goroutines      = "goroutines"
	descriptors     = "open descriptors"
)

const mebibyte = 1 << 20

// measure is a figure of samples.
type measure struct {
	name string
	// key is where samples have it, if not under its name.
	key string
	// each says that it is reported for each server.
	each  bool
	scale float64
	bound bound
}

// measures must be flat, like the tables.
var measures = []measure{
	{name: anonymousMemory, each: true, scale: mebibyte, bound: bound{8, 0.1}},
	{name: residentMemory, each: true, scale: mebibyte, bound: bound{8, 0.1}},
	{name: goroutines, each: true, bound: bound{20, 0.1}},
	{name: descriptors, each: true, bound: bound{20, 0.1}},
	{name: "database connections", key: "database_connections", bound: bound{4, 0.1}},
	{name: eventsWaiting, bound: bound{20, 0.1}},
	{name: jobsWaiting, bound: bound{5, 0.1}},
	{name: "places on the event channel", key: "socket_slots", bound: bound{10, 0.02}},
	{name: "advisory locks", key: "advisory_locks", bound: bound{4, 0}},
	{name: "uploads under way", key: "upload_reservations", bound: bound{2, 0}},
	{name: "files being inspected", key: "attachment_leases", bound: bound{2, 0}},
	{name: "temporary files", key: "temporary_files", bound: bound{2, 0}},
}

// names returns the names of a measure's figures, and for each its label beside the others: its server.
func (m measure) names(servers []string) (names, labels []string) {
	if !m.each {
		return []string{m.name}, []string{""}
	}
	for _, s := range servers {
		names = append(names, m.name+" of "+s)
	}
	return names, servers
}

// of is the figure of a name in a sample.
func (m measure) of(s sample, name string) float64 {
	if m.key != "" {
		name = m.key
	}
	return s.values[name] / max(m.scale, 1)
}

// The bounds of tables: rows and bytes of those that must not grow, and dead rows in proportion, of all.
var (
	rowsBound  = bound{200, 0.1}
	bytesBound = bound{4 * mebibyte, 0.1}
	deadBound  = bound{0.5, 0}
)

const (
	// vacuumTime is a time in which autovacuum must have come to every table that needs it: what was changed within it may be dead.
	vacuumTime = 2 * time.Minute
	// fewRows are nothing to vacuum for.
	fewRows = 1000
)

// growing are the tables that grow with what agents do and are meant to: why, and how many rows each operation of the load adds. A
// table without rows of the load grows for another reason.
var growing = map[string]struct {
	why, operation string
	rows           int
}{
	"messages":       {"kept for 90 days", mix.Messages, 1},
	"message_guards": {"ids and nonces of messages, for ever", mix.Messages, 1},
	"orders":         {"for ever", mix.Orders, 1},
	"order_events":   {"the history of orders, for ever", mix.Orders, 5},
	"operations":     {"the stored answers of operations on orders, for ever", mix.Orders, 5},
	"ledger_entries": {"for ever: two entries reserve and three pay", mix.Orders, 5},
	"attachments":    {"for ever; bytes that are not attached for a day", uploads, 1},
	"receipts":       {"of closed orders, for ever", mix.Orders, 1},
	"log_leaves":     {"the key log, for ever: a leaf for each receipt, once a job has taken it", "", 0},
	"log_openings":   {"what a leaf of the key log commits to, for ever", "", 0},
	"river_job":      {"the job queue keeps ended jobs for four hours", "", 0},
}

// uploads stands beside the operations of the mix.
const uploads = "uploads"

// trends judges what must be flat besides the tables.
func trends(samples []sample, servers []string) (all []Trend) {
	for _, m := range measures {
		names, _ := m.names(servers)
		for _, name := range names {
			all = append(all, newTrend(name, samples, func(s sample) float64 { return m.of(s, name) }, m.bound))
		}
	}
	return all
}

// Table holds the changes of a table.
type Table struct {
	Name string
	// Why it may grow; empty: it may not.
	Why string
	// Rows and Bytes are judged of tables that may not grow. Dead is judged of all: dead rows for each row that is live or was changed
	// within two minutes.
	Rows, Bytes, Dead Trend
}

// Judged are the trends that must be flat.
func (t Table) Judged() []Trend {
	if t.Why != "" {
		return []Trend{t.Dead}
	}
	return []Trend{t.Dead, t.Rows, t.Bytes}
}

// churned judges the tables whose rows were added, changed or deleted in these samples.
func churned(samples []sample) (all []Table) {
	first, last := samples[0], samples[len(samples)-1]
	for _, name := range slices.Sorted(maps.Keys(last.tables)) {
		before, after := first.tables[name], last.tables[name]
		if before.changes == after.changes && before.live == after.live {
			continue
		}
		changing := (after.changes - before.changes) / max((last.at-first.at).Seconds(), 1) * vacuumTime.Seconds()
		all = append(all, Table{
			Name: name, Why: growing[name].why,
			Rows:  newTrend("rows of "+name, samples, func(s sample) float64 { return s.tables[name].live }, rowsBound),
			Bytes: newTrend("bytes of "+name, samples, func(s sample) float64 { return s.tables[name].bytes }, bytesBound),
			Dead: newTrend("dead rows in proportion of "+name, samples, func(s sample) float64 {
				return s.tables[name].dead / (s.tables[name].live + changing + fewRows)
			}, deadBound),
		})
	}
	return all
}
