package email

import (
	"fmt"
	"io"
	netmail "net/mail"
	"strings"
	"time"

	"github.com/google/uuid"
	gomail "github.com/wneessen/go-mail"

	"stoa/ent/mail"
)

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
	} else if to := of.answerTo(); to != (Address{}) {
		msg.ReplyToMailAddress(&netmail.Address{Address: to.String()})
	}
	msg.SetBodyString(gomail.TypeTextPlain, text.String())
	msg.AddAlternativeString(gomail.TypeTextHTML, html.String())
	return &Message{ID: id, From: sender, To: to, msg: msg}, nil
}
