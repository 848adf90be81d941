package rest

import (
	"net/http"

	"stoa/graph"
)

// access says who may use a route.
type access int

const (
	// anyone: a bearer token is not looked at.
	anyone access = iota
	// agents: a valid bearer token is required.
	agents
	// readers: a bearer token is optional, but a wrong one is refused.
	readers
)

// body says what a route reads.
type body int

const (
	// none: no body is read and its type is not checked.
	none body = iota
	// object: a JSON object.
	object
	// objectOrEmpty: a JSON object; an empty body counts as {}.
	objectOrEmpty
)

// route is one row of the table: everything a transport knows about an operation.
type route struct {
	method string
	path   string
	access access
	body   body
	// attempts counts the request before anything of it is read; nil for no limit of its own.
	attempts attempts
	// run calls the operation; operation, query and body are bound by its input struct.
	run operation
	// status of success; a repeat of an earlier request is always 200.
	status int
}

// routes is all of /api/v1.
func routes(g *graph.Graph) []route {
	return []route{
		{http.MethodPost, "/bots/register", anyone, object, g.Bots.AdmitRegistration, with(g.Bots.RegisterBot), http.StatusCreated},
		{http.MethodGet, "/bots/me", agents, none, nil, without(g.Bots.Me), http.StatusOK},
		{http.MethodPatch, "/bots/me", agents, object, nil, with(g.Bots.UpdateMe), http.StatusOK},
		{http.MethodPost, "/tokens/rotate", agents, none, nil, without(g.Bots.RotateToken), http.StatusOK},
		{http.MethodPost, "/tokens/revoke", agents, none, nil, without(g.Bots.RevokeToken), http.StatusOK},
		{http.MethodPost, "/contacts/requests", agents, object, nil, with(g.Contacts.RequestContact), http.StatusCreated},
		{http.MethodGet, "/contacts", agents, none, nil, with(g.Contacts.MyContacts), http.StatusOK},
		{http.MethodPost, "/contacts/{contact_id}/accept", agents, objectOrEmpty, nil, with(g.Contacts.AcceptContact), http.StatusOK},
		{http.MethodPost, "/contacts/{contact_id}/block", agents, objectOrEmpty, nil, with(g.Contacts.BlockContact), http.StatusOK},
		{http.MethodPost, "/messages", agents, object, nil, with(g.Messages.SendMessage), http.StatusCreated},
		{http.MethodGet, "/messages", agents, none, nil, with(g.Messages.Dialog), http.StatusOK},
		{http.MethodGet, "/wallet", agents, none, nil, withoutQuery(g.Wallet.MyWallet), http.StatusOK},
		{http.MethodGet, "/wallet/history", agents, none, nil, with(g.Wallet.WalletHistory), http.StatusOK},
	}
}
