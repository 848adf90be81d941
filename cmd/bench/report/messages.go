package report

import (
	"fmt"
	"io"
	"time"

	"stoa/cmd/bench/compare"
	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/scenarios"
	"stoa/cmd/bench/world"
	"stoa/cmd/bench/ws"
)

// The databases that a comparison of messages measures.
const (
	Few    = "few"
	Whole  = "one table"
	Weekly = "a partition a week"
)

// Messages holds the figures of databases with many messages.
type Messages struct {
	Commit                              string
	Machine                             machine.Description
	Messages, Agents, Connections, Rate int
	Took                                time.Duration
	// Results are of Few, Whole and Weekly as variants.
	Results    []compare.Result
	Deliveries []MessagesDelivery
	Removals   []MessagesRemoval
}

// MessagesDelivery is one measurement of delivery on a database.
type MessagesDelivery struct {
	Variant string
	ws.Delivery
}

// MessagesRemoval says how long the removal of the oldest messages took on a database.
type MessagesRemoval struct {
	Variant string
	world.Removal
}

// Page writes the tables as Markdown.
func (m *Messages) Page(to io.Writer) error {
	p := printer{to: to}
	p.printf("%s messages of %s agents, version %s; %d cores, Linux %s; it took %s.\n\n", single(float64(m.Messages)),
		single(float64(m.Agents)), m.Commit, m.Machine.Cores, m.Machine.Kernel, m.Took)
	p.printf("| operation | messages | a second | of few | PostgreSQL | of few | p50 |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, scenario := range []string{scenarios.Dialog.Name, scenarios.Send.Name} {
		few := m.of(scenario, Few)
		for _, variant := range []string{Few, Whole, Weekly} {
			some := m.of(scenario, variant)
			p.printf("| %s | %s | %s | %s | %s | %s | %s |\n", scenario, variant, number(NewSpread(some.perSecond)),
				number(NewSpread(ratios(some.perSecond, few.perSecond))), duration(NewSpread(some.postgres)),
				number(NewSpread(ratios(some.postgres, few.postgres))), duration(NewSpread(some.p50)))
		}
	}
	p.printf("\n| delivery, %d a second | p50 |\n| --- | --- |\n", m.Rate)
	for _, variant := range []string{Few, Whole, Weekly} {
		var medians []float64
		for _, d := range m.Deliveries {
			if d.Variant == variant {
				for _, round := range d.Rounds {
					medians = append(medians, micros(round[len(round)/2]))
				}
			}
		}
		p.printf("| %s | %s |\n", variant, duration(NewSpread(medians)))
	}
	p.printf("\n| removal of the oldest | messages | took | PostgreSQL's processors |\n| --- | --- | --- | --- |\n")
	for _, r := range m.Removals {
		p.printf("| %s | %d | %s | %s |\n", r.Variant, r.Messages, r.Took.Round(time.Millisecond), r.Processor)
	}
	return p.err
}

// rounds are the figures of a variant, by rounds.
type rounds struct{ perSecond, postgres, p50 []float64 }

func (m *Messages) of(scenario, variant string) (all rounds) {
	for _, r := range m.Results {
		if r.Scenario == scenario && r.Variant == variant {
			all.perSecond = append(all.perSecond, r.PerSecond)
			all.postgres = append(all.postgres, micros(r.PostgresTime))
			all.p50 = append(all.p50, micros(r.P50))
		}
	}
	return all
}

// printer keeps the first error.
type printer struct {
	to  io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.to, format, args...)
	}
}
