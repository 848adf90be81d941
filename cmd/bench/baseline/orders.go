package baseline

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
)

// NewOrder is an order as its customer offers it.
type NewOrder struct {
	OperationID, ContractorID uuid.UUID
	Title, Description        string
	Deadline                  time.Time
	Amount, ConfirmedTotal    int64
	// Raw is the body of the request; its hash identifies a repeated request.
	Raw []byte
}

// OrderAction is accept, start, deliver or complete.
type OrderAction struct {
	OperationID, OrderID uuid.UUID
	Name                 string
	ExpectedVersion      int64
	ConfirmedTotal       *int64
	Result               *string
	Raw                  []byte
}

const (
	createText = `SELECT fault, answer FROM bench.create_order($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`
	actText    = `SELECT fault, answer FROM bench.act($1, $2, $3, $4, $5, $6, $7, $8, $9)`
)

// The number of rows that each adds at most.
const (
	createRows = 5
	actRows    = 8
)

// Create creates an order and returns its card as JSON.
func (d *DB) Create(ctx context.Context, tokenHash []byte, o *NewOrder) (string, error) {
	return d.order(ctx, createText, tokenHash, o.OperationID, requestHash("create", o.Raw), o.ContractorID, o.Title, o.Description,
		o.Deadline, o.Amount, o.ConfirmedTotal, newIDs(createRows))
}

// Act performs an action and returns the order's card as JSON.
func (d *DB) Act(ctx context.Context, tokenHash []byte, a *OrderAction) (string, error) {
	return d.order(ctx, actText, tokenHash, a.OperationID, requestHash(a.Name, a.Raw), a.OrderID, a.Name, a.ExpectedVersion,
		a.ConfirmedTotal, a.Result, newIDs(actRows))
}

func (d *DB) order(ctx context.Context, query string, args ...any) (string, error) {
	var fault, answer sql.NullString
	if err := d.statements[query].QueryRowContext(ctx, args...).Scan(&fault, &answer); err != nil {
		return "", err
	}
	return answer.String, faultError(fault)
}

func requestHash(action string, raw []byte) []byte {
	sum := sha256.New()
	sum.Write([]byte(action))
	sum.Write(raw)
	return sum.Sum(nil)
}

func (d *DB) serveCreate(r *http.Request, tokenHash, body, b []byte) ([]byte, error) {
	var in struct {
		OperationID         string    `json:"operation_id"`
		Title               string    `json:"title"`
		Description         string    `json:"description"`
		Deadline            time.Time `json:"deadline"`
		AmountMinor         int64     `json:"amount_minor"`
		ContractorID        string    `json:"contractor_id"`
		ConfirmedTotalMinor int64     `json:"confirmed_total_minor"`
	}
	f := &fields{err: json.Unmarshal(body, &in)}
	o := &NewOrder{
		OperationID: f.id(in.OperationID), ContractorID: f.id(in.ContractorID), Title: in.Title, Description: in.Description,
		Deadline: in.Deadline, Amount: in.AmountMinor, ConfirmedTotal: in.ConfirmedTotalMinor, Raw: body,
	}
	if f.err != nil {
		return nil, FaultError("invalid_input")
	}
	card, err := d.Create(r.Context(), tokenHash, o)
	return append(b, card...), err
}

func (d *DB) serveAct(r *http.Request, tokenHash, body, b []byte) ([]byte, error) {
	var in struct {
		OperationID         string  `json:"operation_id"`
		ExpectedVersion     int64   `json:"expected_version"`
		ConfirmedTotalMinor *int64  `json:"confirmed_total_minor"`
		ResultText          *string `json:"result_text"`
	}
	f := &fields{err: json.Unmarshal(body, &in)}
	a := &OrderAction{
		OperationID: f.id(in.OperationID), OrderID: f.id(chi.URLParam(r, "order_id")), Name: chi.URLParam(r, "action"),
		ExpectedVersion: in.ExpectedVersion, ConfirmedTotal: in.ConfirmedTotalMinor, Result: in.ResultText, Raw: body,
	}
	if f.err != nil {
		return nil, FaultError("invalid_input")
	}
	card, err := d.Act(r.Context(), tokenHash, a)
	return append(b, card...), err
}
