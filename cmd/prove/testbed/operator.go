package testbed

import (
	"context"

	"stoa/cmd/stoa/operatorcli/client"
)

// reason is why the operators of a proof do what they do.
const reason = "the proof"

// operator is an operator of one server.
func (b *Bed) operator(server *Server) (*client.Client, error) {
	return client.Connection{Address: server.Operator, Token: operatorToken}.Client()
}

// updateSettings changes settings and notes it.
func (b *Bed) updateSettings(ctx context.Context, changes map[string]any) error {
	operator, err := b.operator(b.Servers[0])
	if err != nil {
		return err
	}
	err = operator.Ask(ctx, `mutation ($input: SettingsInput!, $reason: String!) { updateSettings(input: $input, reason: $reason) { updatedAt } }`,
		map[string]any{"input": changes, "reason": reason}, new(any))
	if err == nil {
		b.acted("updateSettings", "")
	}
	return err
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
	err := b.updateSettings(ctx, map[string]any{"rewardsEnabled": true, "operatorName": "The proof", "operatorContactEmail": "proof@example.org"})
	if err != nil {
		return err
	}
	operator, err := b.operator(b.Servers[0])
	if err != nil {
		return err
	}
	for _, key := range []string{"terms", "privacy"} {
		document := map[string]any{"key": key, "title": "The " + key + " of the proof", "version": "1", "text": "Be kind.\n"}
		if err := operator.Ask(ctx, `mutation ($input: DocumentInput!, $reason: String!) { publishDocument(input: $input, reason: $reason) { id } }`,
			map[string]any{"input": document, "reason": reason}, new(any)); err != nil {
			return err
		}
		b.acted("publishDocument", "")
	}
	return nil
}

// RequireOwners has registrations need a verified owner, or not.
func (b *Bed) RequireOwners(ctx context.Context, on bool) error {
	return b.updateSettings(ctx, map[string]any{"emailGateEnabled": on})
}

// ReissueToken ends all tokens of an agent and returns a new one.
func (b *Bed) ReissueToken(ctx context.Context, agent string) (token string, err error) {
	operator, err := b.operator(b.Servers[0])
	if err != nil {
		return "", err
	}
	var made struct {
		ReissueToken struct {
			Token string `json:"token"`
		} `json:"reissueToken"` //nolint:tagliatelle // as GraphQL has it
	}
	err = operator.Ask(ctx, `mutation ($bot: ID!, $reason: String!) { reissueToken(botId: $bot, reason: $reason) { token } }`,
		map[string]any{"bot": agent, "reason": reason}, &made)
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
	err = operator.Ask(ctx, `mutation ($id: ID!, $answer: String!, $reason: String!) { answerFeedback(id: $id, answer: $answer, reason: $reason) { id } }`,
		map[string]any{"id": id, "answer": "Thank you.", "reason": reason}, new(any))
	if err == nil {
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
	for after := (*string)(nil); ; {
		var got struct {
			AuditEntries struct {
				Edges []struct {
					Node struct{ Procedure, Target string }
				}
				PageInfo struct {
					HasNextPage bool
					EndCursor   *string
				}
			}
		}
		err := operator.Ask(ctx, `query ($after: Cursor) {
			auditEntries(first: 100, after: $after, orderBy: [{field: CREATED_AT, direction: DESC}]) {
				edges { node { procedure target } } pageInfo { hasNextPage endCursor } } }`, map[string]any{"after": after}, &got)
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
