package operatorcli

import (
	"context"
	"strconv"

	"stoa/cmd/stoa/operatorcli/client"
)

type mailsCommand struct {
	List listMails `cmd:"" default:"withargs" help:"List mails to owners, newest first."`
}

type listMails struct {
	paging

	State string `enum:"waiting,sent,refused,expired," default:"" env:"-" placeholder:"STATE" help:"waiting, sent, refused or expired."`
}

// mailFilters select the mails of a state.
var mailFilters = map[string]client.MailWhereInput{
	"waiting": {SentAtIsNil: &yes, RefusedAtIsNil: &yes, ExpiredAtIsNil: &yes},
	"sent":    {SentAtNotNil: &yes},
	"refused": {RefusedAtNotNil: &yes},
	"expired": {ExpiredAtNotNil: &yes},
}

var yes = true

var mailColumns = []column[client.MailRow]{
	{"age", func(m client.MailRow) string { return ago(m.CreatedAt) }},
	{"kind", func(m client.MailRow) string { return string(m.Kind) }},
	{"to", func(m client.MailRow) string { return m.AddressHint }},
	{"agent", func(m client.MailRow) string {
		if m.Bot == nil {
			return ""
		}
		return m.Bot.Handle
	}},
	{"state", mailState},
	{"attempts", func(m client.MailRow) string { return strconv.Itoa(m.Attempts) }},
	{"error", func(m client.MailRow) string { return m.LastError }},
}

func mailState(m client.MailRow) string {
	switch {
	case m.SentAt != nil:
		return "sent"
	case m.RefusedAt != nil:
		return "refused"
	case m.ExpiredAt != nil:
		return "expired"
	}
	return "waiting"
}

// Run implements kong's command.
func (c listMails) Run(d *deps) error {
	type edge = *client.ListMailsMailsMailConnectionEdgesMailEdge
	filter := mailFilters[c.State]
	rows, err := collect[client.MailRow](c.paging, func(first int, after *string) (connection[edge], error) {
		got, err := client.ListMails(context.Background(), d.client, first, after, &filter)
		if err != nil {
			return connection[edge]{}, err
		}
		return connection[edge]{got.Mails.Edges, got.Mails.PageInfo}, nil
	})
	if err != nil {
		return err
	}
	return table(d, rows, mailColumns)
}
