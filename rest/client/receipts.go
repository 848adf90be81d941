package client

import (
	"context"
	"net/http"

	"golang.org/x/mod/sumdb/note"

	"stoa/rest/client/receipt"
)

// VerifyReceipt fetches the receipt of a closed order (§12.5) and checks it: under the key of the log that this agent keeps or was given,
// the keys of the server that the log proves, and all witnesses that the agent knows. raw is the receipt as the server sent it. A receipt
// follows its order after seconds; until then the error is a *Fault with not_found. Other errors: receipt.ErrInvalid, ErrUnvouched and
// ErrUnlogged, and the errors of the key log.
func (a *Agent) VerifyReceipt(ctx context.Context, orderID string) (found *receipt.Verified, raw []byte, err error) {
	answer, err := a.Send(ctx, http.MethodGet, at("/orders/", orderID, "/receipt"), nil)
	if err != nil {
		return nil, nil, err
	}
	log, err := a.Log.view(ctx)
	if err == nil && log == nil {
		err = unproven("the server has no key log")
	}
	if err != nil {
		return nil, nil, err
	}
	set, err := a.public(ctx, "/.well-known/jwks.json")
	if err != nil {
		return nil, nil, err
	}
	keys, err := receipt.ParseKeys(set.Body)
	if err != nil {
		return nil, nil, err
	}
	found, err = receipt.Verify(answer.Body, receipt.Trust{Keys: keys, Logs: []note.Verifier{log.key}, Witnesses: a.Log.witnesses})
	return found, answer.Body, err
}
