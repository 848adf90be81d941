package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"stoa/graph/platform/fault"
)

const (
	// statementsPath is before the id of an agent, transactionsPath before that of a transaction of the ledger.
	statementsPath   = booksPath + "/agents/"
	transactionsPath = booksPath + "/transactions/"
)

const statementQuery = `query ($id: ID!, $before: Int64) {
	node(id: $id) { __typename ... on Bot { id handle } }
	statement(botId: $id, before: $before) { id number at kind accountKind deltaMinor transactionId orderId availableMinor reservedMinor }
}`

// transaction leads to the lines of a transaction, together.
func (s *console) transaction(w http.ResponseWriter, r *http.Request) error {
	id, ok := parseID(r.PathValue("id"))
	if !ok {
		return fault.New(fault.NotFound)
	}
	return seeOther(w, "/ledger?"+url.Values{"transactionID": {id}}.Encode())
}

// statement shows an agent's ledger with the balances after each line. Faults: not_found.
func (s *console) statement(w http.ResponseWriter, r *http.Request) error {
	id, ok := parseID(r.PathValue("id"))
	if !ok {
		return fault.New(fault.NotFound)
	}
	variables := map[string]any{"id": id}
	if before := r.URL.Query().Get("before"); before != "" {
		variables["before"] = json.Number(before)
	}
	answer, err := s.ask(r.Context(), statementQuery, variables)
	if err != nil {
		return err
	}
	bot, lines := object(answer, "node"), objects(answer, "statement")
	if bot["__typename"] != "Bot" {
		return fault.New(fault.NotFound)
	}
	handle := textOf(bot, "handle")
	if r.URL.Query().Get("format") == "csv" {
		return s.statementCSV(w, r, handle, variables, lines)
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

// statementCSV writes lines from the newest on, a page at a time, at most maxExport.
func (s *console) statementCSV(w http.ResponseWriter, r *http.Request, handle string, variables map[string]any, lines []map[string]any) error {
	out := startCSV(w, "statement-"+handle, statementFields)
	for rows := 0; len(lines) > 0 && rows < maxExport; rows += len(lines) {
		for _, one := range lines {
			if err := out.Write(cellsOf(one, statementFields)); err != nil {
				return nil //nolint:nilerr // the client has gone away
			}
		}
		out.Flush()
		variables["before"] = lines[len(lines)-1]["number"]
		answer, err := s.ask(r.Context(), statementQuery, variables)
		if err != nil {
			return err
		}
		lines = objects(answer, "statement")
	}
	return nil
}
