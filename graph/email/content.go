package email

import (
	"cmp"
	"context"
	"fmt"
	"io"
	netmail "net/mail"
	"strings"
	"time"

	"github.com/google/uuid"
	gomail "github.com/wneessen/go-mail"

	"stoa/ent/mail"
	"stoa/graph/platform/db"
)

// about holds the fields of the record that a mail is about, as its templates show them.
type about struct {
	Handle string `db:"handle"`
	// Until is when the mail's code or link expires; for a notice it is the earliest deletion if the mail is sent now.
	Until time.Time `db:"until"`
	// ByOwner reports that the owner asked for the erasure.
	ByOwner bool `db:"by_owner"`

	api *API
	id  *uuid.UUID
	to  Link
}

// Code is the six digits of a challenge.
func (of *about) Code() string { return of.api.Code(*of.id) }

// URL is the page that the mail leads to.
func (of *about) URL() string { return of.api.LinkURL(of.to, *of.id) }

// RestoreURL is the page on which an owner asks for a new token.
func (of *about) RestoreURL() string { return of.api.Origin + RestorePage }

// record reads the record that a mail is about, or the agent if it is about none. There is no row once the mail is pointless.
func record(s *db.Statement, to Link) func(context.Context, *API, *claimed) (any, error) {
	return func(ctx context.Context, a *API, m *claimed) (any, error) {
		of, err := db.One[about](ctx, a.DB.SQL, s, cmp.Or(m.Reference, m.BotID))
		if err != nil {
			return nil, err
		}
		of.api, of.id, of.to = a, m.Reference, to
		return of, nil
	}
}

// Link is an owner's page that a mail leads to. Its URL ends with an id and the token that proves that the link was mailed.
type Link struct{ path, label string }

// The links of mails.
var (
	// ConfirmLink is the page on which an owner confirms a registration, or that an agent is theirs; its id is a challenge's id.
	ConfirmLink = Link{"/owner/confirm/", "confirm"}
	// RestoreLink is the page on which an owner restores access to an agent; its id is a restore's id.
	RestoreLink = Link{"/owner/restore/", "restore"}
	// ExportLink and EraseLink are the pages on which an owner exports and erases an agent; their id is a request's id.
	ExportLink = Link{"/owner/export/", "export"}
	EraseLink  = Link{"/owner/erase/", "erase"}
	// KeepLink is the page on which an owner cancels an erasure; its id is the erasure's id.
	KeepLink = Link{"/owner/keep/", "keep"}
	// ProofLink has no page: its token is the proof of a verified address, for a registration. Its id is a challenge's id.
	ProofLink = Link{label: "proof"}
)

// RestorePage is the page on which an owner asks for a RestoreLink.
const RestorePage = "/owner/restore"

// LinkURL is the URL of a link for an id.
func (a *API) LinkURL(l Link, id uuid.UUID) string {
	return a.Origin + l.path + id.String() + "/" + a.LinkToken(l, id)
}

// Follows reports, in constant time, whether the token of a link's URL belongs to its id.
func (a *API) Follows(l Link, id uuid.UUID, token string) bool {
	return equal(a.LinkToken(l, id), token)
}

// Message is a rendered mail. Rendering the same row again makes the same message.
type Message struct {
	ID   uuid.UUID
	From Address
	To   Address

	msg *gomail.Msg
}

// WriteTo writes the message in the format of RFC 5322.
func (m *Message) WriteTo(w io.Writer) (int64, error) { return m.msg.WriteTo(w) }

// NewTest makes a test mail for an operator who sets up a mailer. It belongs to no row.
func NewTest(from *netmail.Address, to Address, now time.Time) (*Message, error) {
	return newMessage(uuid.Must(uuid.NewV7()), from, to, now, kinds[mail.KindTest], testData{now})
}

// newMessage renders a mail. A repeat has the same Message-ID.
func newMessage(id uuid.UUID, from *netmail.Address, to Address, at time.Time, k kind, content any) (*Message, error) {
	if from == nil {
		return nil, errNotSetUp
	}
	sender, err := Parse(from.Address)
	if err != nil {
		return nil, fmt.Errorf("the sender's address %w", err)
	}
	of, byHand := content.(*written)
	data := struct {
		Subject string
		Content any
		// ByHand: an operator wrote it.
		ByHand bool
	}{k.subject, content, byHand}
	var text, html strings.Builder
	if err := k.text.ExecuteTemplate(&text, "layout.txt", data); err != nil {
		return nil, err
	}
	if err := k.html.ExecuteTemplate(&html, "layout.html", data); err != nil {
		return nil, err
	}
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent(), gomail.WithBoundary("stoa-"+id.String()))
	msg.FromMailAddress(&netmail.Address{Name: from.Name, Address: sender.String()})
	msg.ToMailAddress(&netmail.Address{Address: to.String()})
	msg.Subject(k.subject)
	msg.SetDateWithValue(at.UTC())
	msg.SetMessageIDWithValue(id.String() + "@" + sender.domain)
	if !byHand {
		msg.SetGenHeader("Auto-Submitted", "auto-generated")
	} else if to, err := Parse(of.Contact); err == nil {
		msg.ReplyToMailAddress(&netmail.Address{Address: to.String()})
	}
	msg.SetBodyString(gomail.TypeTextPlain, text.String())
	msg.AddAlternativeString(gomail.TypeTextHTML, html.String())
	return &Message{ID: id, From: sender, To: to, msg: msg}, nil
}
