package console

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"stoa/graph/platform/fault"
)

// statementsPath is followed by an agent's id.
const statementsPath = booksPath + "/agents/"

// statementField asks for lines before a line.
const statementField = `statement(botId: $id, before: %d) { id number at kind accountKind deltaMinor transactionId orderId availableMinor reservedMinor }`

// lines reads a page of an agent's ledger before a line, and the agent. Faults: not_found.
func (s *console) lines(ctx context.Context, agent string, before int64) (bot map[string]any, lines []map[string]any, err error) {
	_, bot, answer, err := s.node(ctx, byType("Bot"), agent, `{ id handle }`, fmt.Sprintf(statementField, before))
	return bot, objects(answer, "statement"), err
}

// statement shows an agent's ledger with the balances after each line. Faults: not_found, invalid_pagination.
func (s *console) statement(w http.ResponseWriter, r *http.Request) error {
	before, sent := int64(math.MaxInt64), r.URL.Query().Get("before")
	if n, err := strconv.ParseInt(sent, 10, 64); err == nil {
		before = n
	} else if sent != "" {
		return fault.New(fault.InvalidPagination)
	}
	bot, lines, err := s.lines(r.Context(), r.PathValue("id"), before)
	if err != nil {
		return err
	}
	id, handle := textOf(bot, "id"), textOf(bot, "handle")
	if r.URL.Query().Get("format") == "csv" {
		return s.statementCSV(w, r, id, handle, lines)
	}
	older := ""
	if last := len(lines) - 1; last >= 0 && whole(lines[last]["number"]) > 1 {
		older = fmt.Sprint(statementsPath, id, "?before=", lines[last]["number"])
	}
	return s.show(w, r, view{template: "statement", Title: "Statement of @" + handle, Path: "/wallets", Data: map[string]any{
		"ID": id, "Handle": handle, "Lines": lines, "Older": older,
	}})
}

// statementFields are the columns of a statement as CSV.
var statementFields = []string{
	"number", "at", "kind", "accountKind", "deltaMinor", "availableMinor", "reservedMinor", "transactionId", "orderId", "id",
}

// statementCSV writes at most maxExport lines from the newest on, a page at a time.
func (s *console) statementCSV(w http.ResponseWriter, r *http.Request, id, handle string, lines []map[string]any) (err error) {
	write := startCSV(w, "statement-"+handle, statementFields, statementFields)
	for rows := 0; len(lines) > 0 && rows < maxExport; {
		for _, one := range lines {
			if write(one) != nil {
				return nil //nolint:nilerr // the client has disconnected
			}
		}
		rows += len(lines)
		if _, lines, err = s.lines(r.Context(), id, whole(lines[len(lines)-1]["number"])); err != nil {
			s.abort(r, "statement", err)
		}
	}
	if len(lines) > 0 {
		_ = write(map[string]any{"id": cut}) // no answer is needed if the client has disconnected
	}
	return nil
}

// chartData holds the counts within a window, as bars.
type chartData struct {
	// ID is for the page's attributes, Label names the bars, and Highest describes them.
	ID, Label, Highest string
	// Total is the formatted sum.
	Total string
	Bars  []bar
}

// bar is the bar of a part of a window.
type bar struct {
	// When is the start of the part.
	When value
	// Figure is the formatted number, and n the number.
	Figure string
	n      int64
	// X, Y, Width and Height are its position in a view box of chartWidth and chartHeight.
	X, Y, Width, Height float64
}

// Sizes of a chart, in units of its view box. The template names them too.
const chartWidth, chartHeight = 240, 56

// measured lists the figures of the overview's activity, by their field.
var measured = []struct{ Title, Path, Field, Unit string }{
	{"Agents", "/agents", "agents", "registered"}, {"Messages", "/messages", "messages", "sent"}, {"Orders", "/orders", "orders", "made"},
	{"Credits", "/ledger?kind=payment", "creditsMinor", "paid to contractors"},
}

// newChart makes the chart of a figure from a window of GraphQL's Activity.
func newChart(title, unit, field string, window map[string]any) chartData {
	name := textOf(window, "window")
	c := chartData{ID: field + "-" + name, Label: fmt.Sprintf("%s %s within the last %s", title, unit, name), Highest: "Nothing happened."}
	begins, _ := time.Parse(time.RFC3339, textOf(window, "begins")) // the schema guarantees a time
	list, _ := window[field].([]any)
	var sum, most int64
	for i, one := range list {
		b := bar{When: timeValue(begins.Add(time.Duration(i)*time.Duration(whole(window["stepSeconds"]))*time.Second), true), n: whole(one)}
		b.Figure = number(field, one)
		sum += b.n
		if b.n > most {
			most = b.n
			c.Highest = fmt.Sprintf("%d bars; the highest, %s, began at %s, UTC.", len(list), b.Figure, b.When.Text)
		}
		c.Bars = append(c.Bars, b)
	}
	c.Total = number(field, json.Number(strconv.FormatInt(sum, 10)))
	step := float64(chartWidth) / float64(max(1, len(c.Bars)))
	for i := range c.Bars {
		if b := &c.Bars[i]; b.n > 0 {
			b.Height = max(2, float64(b.n)/float64(most)*(chartHeight-4))
			b.X, b.Y, b.Width = float64(i)*step+1, chartHeight-1-b.Height, step-2
		}
	}
	return c
}
