package graphtest

import (
	"bytes"
	"context"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"slices"
	"sync"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph"
	"stoa/graph/email"
	"stoa/graph/platform/db"
)

// SecretKey is the installation's key of every world.
var SecretKey = bytes.Repeat([]byte{7}, email.KeySize)

// Mail is one mail as a mail program reads it.
type Mail struct {
	Header  mail.Header
	Subject string
	// Text and HTML are its two parts.
	Text, HTML string
}

// Mailbox is an email.Mailer that keeps all mails. It is safe for concurrent use.
type Mailbox struct {
	// Refuse returns the error of sending a mail; nil means that every mail is accepted.
	Refuse func(*email.Message) error

	mu    sync.Mutex
	mails map[string][]*Mail
}

// WithMail sets up mail. World.Mails returns the sent mails once their transactions are committed.
func WithMail(box *Mailbox) Option {
	return func(c *graph.Config) {
		c.Mail, c.MailFrom = box, &mail.Address{Name: "Stoa", Address: "stoa@stoa.example"}
	}
}

// SendMailTo sets up mail in an existing world, as WithMail does; no request may be running.
func (w *World) SendMailTo(box *Mailbox) {
	w.Email.Mailer, w.Email.From = box, &mail.Address{Name: "Stoa", Address: "stoa@stoa.example"}
	w.Owners.SendsMail, w.Onboarding.SendsMail, w.Lifecycle.SendsMail, w.Profiles.SendsMail = true, true, true, true
}

func (*Mailbox) String() string { return "a mailbox" }

func (b *Mailbox) Send(_ context.Context, m *email.Message) (string, error) {
	if b.Refuse != nil {
		if err := b.Refuse(m); err != nil {
			return "", err
		}
	}
	var raw bytes.Buffer
	if _, err := m.WriteTo(&raw); err != nil {
		return "", err
	}
	read, err := ReadMail(&raw)
	if err != nil {
		return "", err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mails == nil {
		b.mails = make(map[string][]*Mail)
	}
	b.mails[m.To.String()] = append(b.mails[m.To.String()], read)
	return "kept", nil
}

// To returns the mails to an address, oldest first.
func (b *Mailbox) To(address string) []*Mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.mails[address])
}

// ReadMail reads a mail with two parts.
func ReadMail(from io.Reader) (*Mail, error) {
	message, err := mail.ReadMessage(from)
	if err != nil {
		return nil, err
	}
	read := &Mail{Header: message.Header}
	if read.Subject, err = new(mime.WordDecoder).DecodeHeader(message.Header.Get("Subject")); err != nil {
		return nil, err
	}
	_, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	parts := multipart.NewReader(message.Body, parameters["boundary"])
	for _, part := range []*string{&read.Text, &read.HTML} {
		next, err := parts.NextRawPart()
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(quotedprintable.NewReader(next))
		if err != nil {
			return nil, err
		}
		*part = string(text)
	}
	return read, nil
}

// Mails returns the mails to an address, oldest first, in a world that has a mailbox (WithMail).
func (w *World) Mails(to string) []*Mail {
	box, ok := w.Email.Mailer.(*Mailbox)
	require.True(w.t, ok, "the world has no mailbox")
	return box.To(to)
}

// Publish puts a version of a document in force that owners confirm.
func (w *World) Publish(key, version, text string) uuid.UUID {
	id := uuid.Must(uuid.NewV7())
	w.Exec("UPDATE documents SET withdrawn_at = stoa_now() WHERE key = $1 AND withdrawn_at IS NULL", key)
	w.Exec(`INSERT INTO documents (id, created_at, key, title, version, url, text, sha256)
		VALUES ($1, stoa_now(), $2::text, initcap($2::text), $3, '', $4::text, encode(sha256($4::text::bytea), 'hex'))`, id, key, version, text)
	return id
}

// RequireOwners switches the email gate and restoring on, with everything that they need, in a world that has a mailbox.
// World.Agent can no longer register agents then.
func (w *World) RequireOwners() {
	w.Publish("terms", "1", "Be kind.\n")
	w.Exec(`UPDATE settings SET email_gate_enabled = true, restore_enabled = true, operator_name = 'Ada',
		operator_contact_email = 'ada@stoa.example'`)
}

// deliverMail does the job's work once, as soon as the transaction is committed. A test that refuses mails calls Deliver again
// itself.
func (w *World) deliverMail(_ context.Context, tx *db.Tx, job db.Job) error {
	id := job.(email.SendJob).MailID
	tx.AfterCommit(func() { _, _ = w.Email.Deliver(context.Background(), id) }) // the mail's row has the error
	return nil
}
