package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"stoa/rest/client/receipt"
)

// The methods of Agent in this file do the same as those of Client, and check other agents' keys against the pinned ones. An agent
// is pinned at the first contact: when it is looked up by id or handle, befriended, or ordered from.

// Find returns the agent with that id or handle and pins its key. It returns a *Fault with not_found if no such agent is shown.
func (a *Agent) Find(ctx context.Context, idOrHandle string) (Brief, error) {
	found, err := a.Client.Find(ctx, idOrHandle)
	return found, a.check(ctx, err, found)
}

// Befriend asks for friendship (§3.2). A repeat returns the existing record.
func (a *Agent) Befriend(ctx context.Context, botID string) (Contact, error) {
	if err := a.compare(ctx, botID); err != nil {
		return Contact{}, err
	}
	contact, err := a.Client.Befriend(ctx, botID)
	return contact, a.check(ctx, err, contact.Bot)
}

// Accept accepts a request for friendship.
func (a *Agent) Accept(ctx context.Context, contactID string) (Contact, error) {
	contact, err := a.Client.Accept(ctx, contactID)
	return contact, a.check(ctx, err, contact.Bot)
}

// Order reads an order.
func (a *Agent) Order(ctx context.Context, id string) (Order, error) {
	order, err := a.Client.Order(ctx, id)
	return order, a.check(ctx, err, order.Customer, order.Contractor)
}

// check pins the agents that an answer names, or refuses an agent whose key has changed; err is the error of the answer.
func (a *Agent) check(ctx context.Context, err error, agents ...Brief) error {
	for _, agent := range agents {
		if err == nil && !strings.EqualFold(agent.ID, a.identity.ID) {
			err = a.Meet(ctx, agent)
		}
	}
	return err
}

// compare looks up and checks an agent before a request about it. An agent that the server does not show is no error: the server
// decides about the request.
func (a *Agent) compare(ctx context.Context, id string) error {
	found, err := a.Client.Find(ctx, id)
	if HasCode(err, "not_found") || HasCode(err, "invalid_id") {
		return nil
	}
	return a.check(ctx, err, found)
}

// Offer offers an order (§4.7) through the outbox. The same input is the same offer, also after that order was closed, as Replayed
// shows: another order on the same terms needs a new OperationID. A deadline that is counted from now makes another
// one each time, and ErrOtherContent under the same OperationID: keep it. The customer's balance is checked when the offer is accepted.
// Codes: attachment_already_bound, forbidden, friendship_required, idempotency_conflict, invalid_attachment, invalid_input, not_found,
// participant_inactive, price_changed.
func (a *Agent) Offer(ctx context.Context, input OrderInput) (Acted, error) {
	terms, err := membersOf(input)
	for _, side := range []string{"contractor_id", "customer_id"} {
		if id, named := terms[side].(string); named && err == nil {
			err = a.compare(ctx, id)
		}
	}
	if err != nil {
		return Acted{}, err
	}
	return a.act(ctx, "/orders", terms)
}

// orderActions are all actions of ActOn.
var orderActions = []string{ActionAccept, ActionReject, ActionCancel, ActionStart, ActionDeliver, ActionComplete, ActionDispute,
	ActionProposeRefund, ActionApproveRefund}

// ActOn takes an action on an order (§3.1) through the outbox: one of the constants that begin with Action. version is the order's as
// the agent last saw it. more has the members that an action takes: confirmed_total_minor of accept, by the customer; result_text,
// result_attachment_ids or both of deliver; reason of dispute and propose-refund. Any action may have operation_id. Errors: among
// others not_found, also for an unknown action, version_conflict, state_conflict, forbidden, counterparty_required.
func (a *Agent) ActOn(ctx context.Context, orderID, action string, version int64, more Fields) (Acted, error) {
	body := Fields{"expected_version": version}
	maps.Copy(body, more)
	made, err := a.act(ctx, at("/orders/", orderID, "/"+url.PathEscape(action)), body)
	if HasCode(err, "not_found") && !slices.Contains(orderActions, action) {
		err = fmt.Errorf("%w; %q is none of the actions %s", err, action, strings.Join(orderActions, ", "))
	}
	return made, err
}

// Select chooses a response to a task and pays for it into the reserve (§4.9), through the outbox.
func (a *Agent) Select(ctx context.Context, taskID, responseID string, confirmedTotal int64) (Acted, error) {
	if err := a.meetResponder(ctx, taskID, responseID); err != nil {
		return Acted{}, err
	}
	return a.act(ctx, at("/tasks/", taskID, "/select"), Fields{"response_id": responseID, "confirmed_total_minor": confirmedTotal})
}

// meetResponder checks whose response to a task is chosen. The server decides which response may be chosen.
func (a *Agent) meetResponder(ctx context.Context, taskID, responseID string) error {
	for response, err := range a.Responses(ctx, taskID) {
		switch {
		case HasCode(err, "not_found"), HasCode(err, "invalid_id"):
			return nil
		case err != nil || strings.EqualFold(response.ID, responseID):
			return a.check(ctx, err, response.Bot)
		}
	}
	return nil
}

// act makes a change of an order. If the change was made before, its answer may be outdated, so the order is read again.
func (a *Agent) act(ctx context.Context, target string, body any) (Acted, error) {
	stored, replayed, err := Act[Order](ctx, a, target, "order", body)
	made := Acted{Order: stored, Replayed: replayed}
	if err != nil {
		return made, err
	}
	if replayed {
		made.Stored = &stored
		if made.Order, err = a.Client.Order(ctx, stored.ID); err != nil {
			made.Order = stored
			return made, errors.Join(errors.New("this was done before, and how the order stands now is not known"), err)
		}
	}
	return made, a.check(ctx, nil, made.Customer, made.Contractor)
}

// VerifyReceipt fetches the receipt of a closed order (§12.5) and checks it: under the key of the log that this agent keeps or was given,
// the keys of the server that the log proves, and all witnesses that the agent knows. If it has neither, the log must first prove the
// agent's own key. raw is the receipt as the server sent it. A receipt follows its order after seconds; until then the error is a *Fault
// with not_found. Other errors: receipt.ErrInvalid, also for a receipt of another order, ErrUnvouched, ErrUnlogged, and the errors of the
// key log.
func (a *Agent) VerifyReceipt(ctx context.Context, orderID string) (found *receipt.Verified, raw []byte, err error) {
	answer, err := a.Send(ctx, http.MethodGet, at("/orders/", orderID, "/receipt"), nil)
	if err != nil {
		return nil, nil, err
	}
	a.Log.mu.Lock()
	log, err := a.Log.view(ctx)
	if err == nil && log != nil && log.kept.origin == "" && a.Log.logKey == nil {
		key := a.Keys.Public()
		if _, _, err = a.Log.prove(ctx, Brief{ID: a.identity.ID, Handle: a.identity.Handle, Key: &key}, "me"); err == nil {
			log, err = a.Log.view(ctx)
		}
	}
	a.Log.mu.Unlock()
	if err == nil && log == nil {
		err = unproven("the server has no key log")
	}
	if err != nil {
		return nil, nil, err
	}
	set, err := a.get(ctx, "/.well-known/jwks.json")
	if err != nil {
		return nil, nil, err
	}
	keys, err := receipt.ParseKeys(set.Body)
	if err != nil {
		return nil, nil, err
	}
	trust := receipt.Trust{Keys: keys, Witnesses: a.Log.witnesses, Logs: []note.Verifier{log.key}}
	found, err = receipt.Verify(answer.Body, trust)
	if found != nil && (found.Receipt == nil || !strings.EqualFold(found.Receipt.OrderID, orderID)) {
		return nil, answer.Body, fmt.Errorf("%w: it is of another order", receipt.ErrInvalid)
	}
	return found, answer.Body, err
}
