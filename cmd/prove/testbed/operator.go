package testbed

import (
	"context"

	"github.com/Khan/genqlient/graphql"

	"stoa/cmd/stoa/operatorcli"
	"stoa/cmd/stoa/operatorcli/client"
)

// reason is why the operators of a proof do what they do.
const reason = "the proof"

// operator is an operator of one server.
func (b *Bed) operator(server *Server) (graphql.Client, error) {
	return operatorcli.Connection{Address: server.Operator, Token: operatorToken}.Client()
}

// acted notes an act of an operator that was answered: its procedure and the agent that it was done to, if any.
func (b *Bed) acted(procedure, target string) {
	b.acting.Lock()
	defer b.acting.Unlock()
	b.Acts = append(b.Acts, procedure+" "+target)
}

// setUpOwners does what operators do before owners can be verified: they say who they are, publish what owners confirm, and let
// verified agents be rewarded.
func (b *Bed) setUpOwners(ctx context.Context) error {
	operator, err := b.operator(b.Servers[0])
	if err != nil {
		return err
	}
	on, name, contact := true, "The proof", "proof@example.org"
	if _, err := client.UpdateSettings(ctx, operator, client.SettingsInput{
		RewardsEnabled: &on, OperatorName: &name, OperatorContactEmail: &contact,
	}, reason); err != nil {
		return err
	}
	b.acted("updateSettings", "")
	for _, key := range []string{"terms", "privacy"} {
		if _, err := client.PublishDocument(ctx, operator, client.DocumentInput{
			Key: key, Title: "The " + key + " of the proof", Version: "1", Text: "Be kind.\n",
		}, reason); err != nil {
			return err
		}
		b.acted("publishDocument", "")
	}
	return nil
}

// RequireOwners has registrations need a verified owner, or not.
func (b *Bed) RequireOwners(ctx context.Context, on bool) error {
	operator, err := b.operator(b.Servers[0])
	if err != nil {
		return err
	}
	_, err = client.UpdateSettings(ctx, operator, client.SettingsInput{EmailGateEnabled: &on}, reason)
	if err == nil {
		b.acted("updateSettings", "")
	}
	return err
}

// ReissueToken ends all tokens of an agent and returns a new one.
func (b *Bed) ReissueToken(ctx context.Context, agent string) (token string, err error) {
	operator, err := b.operator(b.Servers[0])
	if err != nil {
		return "", err
	}
	made, err := client.ReissueToken(ctx, operator, agent, reason)
	if err != nil {
		return "", err
	}
	b.acted("reissueToken", agent)
	return made.ReissueToken.Token, nil
}

// AnswerFeedback answers an agent's feedback.
func (b *Bed) AnswerFeedback(ctx context.Context, id string) error {
	operator, err := b.operator(b.Servers[0])
	if err != nil {
		return err
	}
	if _, err = client.AnswerFeedback(ctx, operator, id, "Thank you.", reason); err == nil {
		b.acted("answerFeedback", id)
	}
	return err
}

// Audit returns the procedures and targets of all entries of the audit log, the newest first.
func (b *Bed) Audit(ctx context.Context) (entries []string, err error) {
	operator, err := b.operator(b.Servers[0])
	if err != nil {
		return nil, err
	}
	const page = 100
	for after := (*string)(nil); ; {
		got, err := client.ListAudit(ctx, operator, page, after, nil, nil, nil, nil, nil)
		if err != nil {
			return nil, err
		}
		for _, edge := range got.AuditEntries.Edges {
			entries = append(entries, edge.Node.Procedure+" "+edge.Node.Target)
		}
		if !got.AuditEntries.PageInfo.HasNextPage {
			return entries, nil
		}
		after = got.AuditEntries.PageInfo.EndCursor
	}
}
