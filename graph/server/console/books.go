package console

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"stoa/graph/platform/fault"
)

// The pages of the books.
const (
	booksPath      = "/books"
	statementsPath = booksPath + "/agents/"
)

const booksQuery = `{ books { at wallets issuedMinor availableMinor reservedMinor feesMinor differenceMinor
	checks { scope endedAt running discrepancies imbalanceMinor } } }`

// booksData holds the data of the books.
type booksData struct {
	At      value
	Figures []figure
	// Right: what was issued is there.
	Right  bool
	Sum    string
	Checks []ledgerCheck
}

// ledgerCheck holds the findings of a check of the ledger.
type ledgerCheck struct {
	Title, Found string
	Ended        value
	Right        bool
	Running      bool
}

// books shows where the credits are, and what the checks found. Faults: service_unavailable.
func (s *console) books(w http.ResponseWriter, r *http.Request) error {
	answer, err := s.ask(r.Context(), booksQuery, nil)
	if err != nil {
		return err
	}
	found := object(answer, "books")
	amount := func(name string) string { return credits(whole(found[name])) }
	if r.URL.Query().Get("format") == "csv" {
		rows := [][]string{{"at", "issued_minor", "available_minor", "reserved_minor", "fees_minor", "difference_minor"}, {textOf(found, "at")}}
		for _, name := range []string{"issuedMinor", "availableMinor", "reservedMinor", "feesMinor", "differenceMinor"} {
			rows[1] = append(rows[1], plainNumber(found[name]))
		}
		return writeCSV(w, "books", rows)
	}
	data := booksData{
		At: moment(textOf(found, "at")), Right: whole(found["differenceMinor"]) == 0,
		Sum: amount("availableMinor") + " + " + amount("reservedMinor") + " + " + amount("feesMinor") + " of " + amount("issuedMinor") +
			": difference " + amount("differenceMinor"),
		Figures: []figure{
			{"Issued", amount("issuedMinor"), "/ledger?accountKind=issuance"}, {"In " + grouped(whole(found["wallets"])) + " wallets", amount("availableMinor"), "/wallets"},
			{"In escrow", amount("reservedMinor"), "/orders?attention=stuck"}, {"Fees", amount("feesMinor"), "/ledger?accountKind=fees"},
		},
	}
	for _, one := range objects(found, "checks") {
		check := ledgerCheck{
			Title: map[string]string{"new": "New entries, every hour", "whole": "The whole ledger, every day"}[textOf(one, "scope")],
			Ended: moment(textOf(one, "endedAt")), Running: one["running"] == true,
			Right: whole(one["discrepancies"]) == 0 && whole(one["imbalanceMinor"]) == 0,
			Found: grouped(whole(one["discrepancies"])) + " discrepancies; all entries that were checked sum to " + credits(whole(one["imbalanceMinor"])),
		}
		data.Checks = append(data.Checks, check)
	}
	return s.show(w, r, view{template: booksPage, Title: "Books", Path: booksPath, Data: data})
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
	Lines      []statementLine
	// Older leads to the page after it; empty at the end.
	Older string
}

type statementLine struct {
	Number, Kind, Account, Delta, Available, Reserved string
	At, Order                                         value
	Transaction                                       string
	ID                                                string
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
	data := statementData{ID: id, Handle: textOf(bot, "handle")}
	for _, one := range lines {
		line := statementLine{
			Number: plainNumber(one["number"]), Kind: human(textOf(one, "kind")), Account: human(textOf(one, "accountKind")), Delta: credits(whole(one["deltaMinor"])),
			Available: credits(whole(one["availableMinor"])), Reserved: credits(whole(one["reservedMinor"])), At: moment(textOf(one, "at")),
			Transaction: transactionsPath + textOf(one, "transactionId"), ID: shortened(textOf(one, "transactionId")), Order: value{Kind: "none"},
		}
		if order := textOf(one, "orderId"); order != "" {
			line.Order = value{Kind: "code", Text: shortened(order), Link: "/orders/" + order}
		}
		data.Lines = append(data.Lines, line)
	}
	if last := len(lines) - 1; last >= 0 && whole(lines[last]["number"]) > 1 {
		data.Older = statementsPath + id + "?before=" + plainNumber(lines[last]["number"])
	}
	return s.show(w, r, view{template: statementPage, Title: "Statement of @" + data.Handle, Path: "/wallets", Data: data})
}

// statementFields are the columns of a statement as CSV.
var statementFields = []string{
	"number", "at", "kind", "accountKind", "deltaMinor", "availableMinor", "reservedMinor", "transactionId", "orderId", "id",
}

// maxExport is how many rows an export has at most.
const maxExport = 10_000

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

// plainNumber is a number of an answer, unchanged.
func plainNumber(v any) string {
	n, _ := v.(json.Number)
	return n.String()
}

// startCSV begins an answer in CSV, for the browser to save.
func startCSV(w http.ResponseWriter, name string, header []string) *csv.Writer {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`.csv"`)
	out := csv.NewWriter(w)
	_ = out.Write(header) // a client that has gone away needs no answer
	return out
}

func writeCSV(w http.ResponseWriter, name string, rows [][]string) error {
	out := startCSV(w, name, rows[0])
	_ = out.WriteAll(rows[1:]) // a client that has gone away needs no answer
	return nil
}

// cellsOf are members of an answer as texts. A spreadsheet must not take a text for a formula.
func cellsOf(data map[string]any, names []string) []string {
	cells := make([]string, len(names))
	for i, name := range names {
		switch v := data[name].(type) {
		case string:
			cells[i] = v
			if strings.IndexAny(v, "=+-@\t\r") == 0 {
				cells[i] = "'" + v
			}
		case json.Number:
			cells[i] = v.String()
		case bool:
			cells[i] = map[bool]string{true: "true", false: "false"}[v]
		case map[string]any:
			for _, key := range []string{"handle", "title", "host", "id"} {
				if text := textOf(v, key); text != "" {
					cells[i] = text
					break
				}
			}
		}
	}
	return cells
}
