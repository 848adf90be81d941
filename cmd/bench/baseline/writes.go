package baseline

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
)

// Sizes of an envelope's parts.
const (
	keySize   = 32
	nonceSize = 24
	leastBox  = 17
	mostBox   = 32 << 10
)

// reader decodes the fields of a body; one that is wrong makes the whole refused.
type reader struct{ err error }

func (r *reader) id(s string) uuid.UUID {
	id, err := uuid.Parse(s)
	r.err = errors.Join(r.err, err)
	return id
}

func (r *reader) bytes(s string, least, most int) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil || len(b) < least || len(b) > most {
		r.err = RefusedError("invalid_input")
	}
	return b
}

func (r *reader) done() error {
	if r.err != nil {
		return RefusedError("invalid_input")
	}
	return nil
}

func (d *DB) send(ctx context.Context, _ *http.Request, token, body, b []byte) ([]byte, error) {
	var in struct {
		RecipientID        string `json:"recipient_id"`
		ClientMessageID    string `json:"client_message_id"`
		Nonce              string `json:"nonce"`
		Ciphertext         string `json:"ciphertext"`
		EncryptionVersion  string `json:"encryption_version"`
		SenderPublicKey    string `json:"sender_public_key"`
		RecipientPublicKey string `json:"recipient_public_key"`
	}
	r := &reader{err: json.Unmarshal(body, &in)}
	e := &Envelope{
		To: r.id(in.RecipientID), ClientID: r.id(in.ClientMessageID),
		Nonce: r.bytes(in.Nonce, nonceSize, nonceSize), Box: r.bytes(in.Ciphertext, leastBox, mostBox),
		FromKey: r.bytes(in.SenderPublicKey, keySize, keySize), TargetKey: r.bytes(in.RecipientPublicKey, keySize, keySize),
	}
	if in.EncryptionVersion != encryption {
		return nil, RefusedError("invalid_input")
	}
	if err := r.done(); err != nil {
		return nil, err
	}
	sent, err := d.Send(ctx, token, e)
	if err != nil {
		return nil, err
	}
	return appendSent(b, sent, e), nil
}

func (d *DB) offer(ctx context.Context, _ *http.Request, token, body, b []byte) ([]byte, error) {
	var in struct {
		OperationID         string    `json:"operation_id"`
		Title               string    `json:"title"`
		Description         string    `json:"description"`
		Deadline            time.Time `json:"deadline"`
		AmountMinor         int64     `json:"amount_minor"`
		ContractorID        string    `json:"contractor_id"`
		ConfirmedTotalMinor int64     `json:"confirmed_total_minor"`
	}
	r := &reader{err: json.Unmarshal(body, &in)}
	o := &Offer{
		Operation: r.id(in.OperationID), Contractor: r.id(in.ContractorID), Title: in.Title, Description: in.Description,
		Deadline: in.Deadline, Amount: in.AmountMinor, Confirmed: in.ConfirmedTotalMinor, Raw: body,
	}
	if err := r.done(); err != nil {
		return nil, err
	}
	card, err := d.Create(ctx, token, o)
	return append(b, card...), err
}

func (d *DB) step(ctx context.Context, request *http.Request, token, body, b []byte) ([]byte, error) {
	var in struct {
		OperationID         string  `json:"operation_id"`
		ExpectedVersion     int64   `json:"expected_version"`
		ConfirmedTotalMinor *int64  `json:"confirmed_total_minor"`
		ResultText          *string `json:"result_text"`
	}
	r := &reader{err: json.Unmarshal(body, &in)}
	s := &Step{
		Operation: r.id(in.OperationID), Order: r.id(chi.URLParam(request, "order_id")), Action: chi.URLParam(request, "action"),
		Version: in.ExpectedVersion, Confirmed: in.ConfirmedTotalMinor, Result: in.ResultText, Raw: body,
	}
	if err := r.done(); err != nil {
		return nil, err
	}
	card, err := d.Act(ctx, token, s)
	return append(b, card...), err
}

func (d *DB) registration(ctx context.Context, _ *http.Request, _, body, b []byte) ([]byte, error) {
	var in struct {
		Handle              string `json:"handle"`
		DisplayName         string `json:"display_name"`
		EncryptionPublicKey string `json:"encryption_public_key"`
	}
	r := &reader{err: json.Unmarshal(body, &in)}
	token := NewToken()
	p := &Passport{Handle: in.Handle, Name: in.DisplayName, Key: r.bytes(in.EncryptionPublicKey, keySize, keySize), TokenHash: HashToken(token)}
	if err := r.done(); err != nil {
		return nil, err
	}
	made, err := d.Register(ctx, p)
	if err != nil {
		return nil, err
	}
	a := Agent{
		ID: made.ID, Handle: p.Handle, Name: p.Name, Key: p.Key, State: "active", Public: true,
		Created: made.Created, Updated: made.Created, Active: made.Created,
	}
	b = a.appendJSON(append(b, `{"bot":`...))
	b = field(append(b, ','), "token", token)
	b = stamp(append(b, `,"token_expires_at":`...), made.Expires)
	return append(b, '}'), nil
}
