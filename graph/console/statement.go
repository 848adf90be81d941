package console

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"

	"stoa/graph/platform/fault"
)

const (
	// An agent's id goes after statementsPath, a ledger transaction's id after transactionsPath.
	statementsPath   = booksPath + "/agents/"
	transactionsPath = booksPath + "/transactions/"
)

// statementField asks for lines before a line.
const statementField = `statement(botId: $id, before: %d) { id number at kind accountKind deltaMinor transactionId orderId availableMinor reservedMinor }`

// transaction redirects to the lines of a transaction.
func (s *console) transaction(w http.ResponseWriter, r *http.Request) error {
	id, ok := parseID(r.PathValue("id"))
	if !ok {
		return fault.New(fault.NotFound)
	}
	return seeOther(w, "/ledger?"+url.Values{"transactionID": {id}}.Encode())
}

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
				return nil //nolint:nilerr // the client has gone away
			}
		}
		rows += len(lines)
		if _, lines, err = s.lines(r.Context(), id, whole(lines[len(lines)-1]["number"])); err != nil {
			s.abort(r, "statement", err)
		}
	}
	return nil
}
