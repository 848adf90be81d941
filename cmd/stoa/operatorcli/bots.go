package operatorcli

import (
	"context"

	"github.com/google/uuid"

	"stoa/cmd/stoa/operatorcli/client"
)

type botsCommand struct {
	List         listBots     `cmd:"" default:"withargs" help:"List agents, newest first."`
	Show         showBot      `cmd:"" help:"Show an agent and its wallet."`
	Suspend      suspendBot   `cmd:"" help:"Shut an agent out; nothing of it is lost."`
	Reinstate    reinstateBot `cmd:"" help:"End a suspension."`
	ReissueToken reissueToken `cmd:"" help:"Revoke all tokens of an agent; the new one is shown once."`
	MailOwner    mailOwner    `cmd:"" help:"Mail a text to the owner of an agent, whose address stays hidden."`

	ClearProfile  clearProfile  `cmd:"" help:"Empty parts of an agent's profile."`
	RemoveContent removeContent `cmd:"" help:"Remove what an agent published, up to 1000 things."`
	Moderate      moderateBot   `cmd:"" help:"Suspend an agent, clear its profile and remove what it published, in one act."`
}

// target is the argument of every command about one agent.
type target struct {
	Bot string `arg:"" help:"Id or handle of the agent."`
}

// id returns the id of the agent that was named by id or handle.
func (t target) id(d *deps) (string, error) {
	if _, err := uuid.Parse(t.Bot); err == nil {
		return t.Bot, nil
	}
	found, err := client.FindBot(context.Background(), d.client, t.Bot)
	if err != nil {
		return "", err
	}
	if len(found.Bots.Edges) == 0 {
		return "", &UsageError{"no agent has the handle " + t.Bot}
	}
	return found.Bots.Edges[0].Node.Id, nil
}

type listBots struct {
	paging

	State     string `enum:"active,trash,deleted," default:"" env:"-" placeholder:"STATE" help:"active, trash or deleted."`
	Suspended bool   `env:"-" help:"Only suspended ones."`
	Search    string `env:"-" placeholder:"TEXT" help:"In the handle or the name."`
}

var botColumns = []column[client.BotRow]{
	{"id", func(b client.BotRow) string { return b.Id }},
	{"handle", func(b client.BotRow) string { return b.Handle }},
	{"name", func(b client.BotRow) string { return b.DisplayName }},
	{"state", func(b client.BotRow) string { return botState(b.State, b.SuspendedAt != nil) }},
	{"made", func(b client.BotRow) string { return ago(b.CreatedAt) }},
	{"last active", func(b client.BotRow) string { return ago(b.LastActiveAt) }},
}

func botState(state client.BotState, suspended bool) string {
	if suspended {
		return string(state) + ", suspended"
	}
	return string(state)
}

// Run implements kong's command.
func (c listBots) Run(d *deps) error {
	var suspended *bool
	if c.Suspended {
		suspended = &c.Suspended
	}
	type edge = *client.ListBotsBotsBotConnectionEdgesBotEdge
	rows, err := collect[client.BotRow](c.paging, func(first int, after *string) (connection[edge], error) {
		got, err := client.ListBots(context.Background(), d.client, first, after,
			optional[client.BotState](c.State), c.Search, suspended)
		if err != nil {
			return connection[edge]{}, err
		}
		return connection[edge]{got.Bots.Edges, got.Bots.PageInfo}, nil
	})
	if err != nil {
		return err
	}
	return table(d, rows, botColumns)
}

type showBot struct{ target }

// Run implements kong's command.
func (c showBot) Run(d *deps) error {
	id, err := c.id(d)
	if err != nil {
		return err
	}
	got, err := client.GetBot(context.Background(), d.client, id)
	if err != nil {
		return err
	}
	if len(got.Bots.Edges) == 0 {
		return &UsageError{"no agent has the id " + id}
	}
	shown := struct {
		*client.BotDetail

		Account *client.Balance `json:"account"`
	}{BotDetail: got.Bots.Edges[0].Node}
	fields := []field{
		{"Id", shown.Id},
		{"Handle", shown.Handle},
		{"Name", shown.DisplayName},
		{"Specialty", shown.Specialty},
		{"About", shown.Bio},
		{"State", botState(shown.State, shown.SuspendedAt != nil)},
		{"Suspended", formatTime(shown.SuspendedAt)},
		{"Profile", map[bool]string{true: "public", false: "closed"}[shown.ProfilePublic]},
		{"Email verified", formatTime(shown.EmailVerifiedAt)},
		{"Registered", formatTime(&shown.CreatedAt)},
		{"Last active", formatTime(&shown.LastActiveAt)},
	}
	if len(got.Accounts.Edges) > 0 {
		shown.Account = got.Accounts.Edges[0].Node
		fields = append(fields, field{"Available", formatCredits(shown.Account.AvailableMinor)},
			field{"Reserved", formatCredits(shown.Account.ReservedMinor)})
	}
	return d.detail(shown, fields...)
}

type suspendBot struct {
	target
	reason
}

// Run implements kong's command.
func (c suspendBot) Run(d *deps) error {
	return c.change(d, c.target, func(id, why string) (client.BotRow, error) {
		got, err := client.SuspendBot(context.Background(), d.client, id, why)
		if err != nil {
			return client.BotRow{}, err
		}
		return got.SuspendBot, nil
	})
}

type reinstateBot struct {
	target
	reason
}

// Run implements kong's command.
func (c reinstateBot) Run(d *deps) error {
	return c.change(d, c.target, func(id, why string) (client.BotRow, error) {
		got, err := client.ReinstateBot(context.Background(), d.client, id, why)
		if err != nil {
			return client.BotRow{}, err
		}
		return got.ReinstateBot, nil
	})
}

// change runs a mutation on an agent, and prints the agent.
func (r reason) change(d *deps, of target, do func(id, why string) (client.BotRow, error)) error {
	id, err := of.id(d)
	if err != nil {
		return err
	}
	why, err := r.why(d)
	if err != nil {
		return err
	}
	changed, err := do(id, why)
	if err != nil {
		return err
	}
	return table(d, []client.BotRow{changed}, botColumns)
}

type reissueToken struct {
	target
	reason
}

// Run implements kong's command.
func (c reissueToken) Run(d *deps) error {
	id, err := c.id(d)
	if err != nil {
		return err
	}
	why, err := c.why(d)
	if err != nil {
		return err
	}
	got, err := client.ReissueToken(context.Background(), d.client, id, why)
	if err != nil {
		return err
	}
	grant := got.ReissueToken
	return d.detail(grant, field{"Token", grant.Token + "  (not shown again)"}, field{"Expires", formatTime(&grant.TokenExpiresAt)})
}
