package console

import (
	"encoding/json"
	"net/http"
	"net/url"

	"stoa/graph/platform/fault"
)

// The pages of the books.
const (
	booksPath      = "/books"
	statementsPath = booksPath + "/agents/"
)

const booksQuery = `{ books { at wallets issuedMinor availableMinor reservedMinor feesMinor differenceMinor
	checks { scope endedAt running discrepancies imbalanceMinor } } }`

// booksData holds the data of the books: the answer of booksQuery, and what it comes to.
type booksData struct {
	Found   map[string]any
	Figures []figure
	// Right: what was issued is there.
	Right bool
	Sum   string
}

// booksFields are the columns of the books as CSV.
var booksFields = []string{"at", "issuedMinor", "availableMinor", "reservedMinor", "feesMinor", "differenceMinor"}

// books shows where the credits are, and what the checks found. Faults: service_unavailable.
func (s *console) books(w http.ResponseWriter, r *http.Request) error {
	answer, err := s.ask(r.Context(), booksQuery, nil)
	if err != nil {
		return err
	}
	found := object(answer, "books")
	if r.URL.Query().Get("format") == "csv" {
		out := startCSV(w, "books", []string{"at", "issued_minor", "available_minor", "reserved_minor", "fees_minor", "difference_minor"})
		_ = out.Write(cellsOf(found, booksFields)) // a client that has gone away needs no answer
		out.Flush()
		return nil
	}
	amount := func(name string) string { return amountOf(found[name]) }
	return s.show(w, r, view{template: "books", Title: "Books", Path: booksPath, Data: booksData{
		Found: found, Right: whole(found["differenceMinor"]) == 0,
		Sum: amount("availableMinor") + " + " + amount("reservedMinor") + " + " + amount("feesMinor") + " of " + amount("issuedMinor") +
			": difference " + amount("differenceMinor"),
		Figures: []figure{
			{"Issued", amount("issuedMinor"), "/ledger?accountKind=issuance"}, {"In " + grouped(whole(found["wallets"])) + " wallets", amount("availableMinor"), "/wallets"},
			{"In escrow", amount("reservedMinor"), "/orders?attention=stuck"}, {"Fees", amount("feesMinor"), "/ledger?accountKind=fees"},
		},
	}})
}

// transaction leads to the lines of a transaction, together.
func (s *console) transaction(w http.ResponseWriter, r *http.Request) error {
	id, ok := parseID(r.PathValue("id"))
	if !ok {
		return fault.New(fault.NotFound)
	}
	return seeOther(w, "/ledger?"+url.Values{"transactionID": {id}}.Encode())
}

const statementQuery = `query ($id: ID!, $before: Int64) {
	node(id: $id) { __typename ... on Bot { id handle } }
	statement(botId: $id, before: $before) { id number at kind accountKind deltaMinor transactionId orderId availableMinor reservedMinor }
}`

// statementData holds the data of a page of an agent's ledger.
type statementData struct {
	ID, Handle string
	Lines      []map[string]any
	// Older leads to the page after it; empty at the end.
	Older string
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
	bot := object(answer, "node")
	if bot["__typename"] != "Bot" {
		return fault.New(fault.NotFound)
	}
	lines := objects(answer, "statement")
	if r.URL.Query().Get("format") == "csv" {
		return s.statementCSV(w, r, textOf(bot, "handle"), variables, lines)
	}
	data := statementData{ID: id, Handle: textOf(bot, "handle"), Lines: lines}
	if last := len(lines) - 1; last >= 0 && whole(lines[last]["number"]) > 1 {
		data.Older = statementsPath + id + "?before=" + plainNumber(lines[last]["number"])
	}
	return s.show(w, r, view{template: "statement", Title: "Statement of @" + data.Handle, Path: "/wallets", Data: data})
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
