package rest

import (
	"context"
	"net/http"

	"stoa/graph"
	"stoa/graph/orders"
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
	// parts: a multipart form, which the operation reads as it arrives.
	parts
)

// route is one row of the table: everything a transport knows about an operation.
type route struct {
	method string
	path   string
	access access
	body   body
	// attempts counts the request before anything of it is read; nil for no limit of its own.
	attempts attempts
	// What it calls; path, query and body are bound by its input struct.
	operation
	// status of success; a repeat of an earlier request is always 200.
	status int
}

// routes is all of /api/v1.
func routes(g *graph.Graph) []route {
	rows := []route{
		{http.MethodPost, "/bots/register", anyone, object, g.Bots.AdmitRegistration, with(g.Bots.RegisterBot), http.StatusCreated},
		{http.MethodGet, "/bots/me", agents, none, nil, withoutPiggyback(g.Bots.PiggybackMe, g.Bots.Me), http.StatusOK},
		{http.MethodPatch, "/bots/me", agents, object, nil, with(g.Bots.UpdateMe), http.StatusOK},
		{http.MethodGet, "/bots", agents, none, nil, with(g.Profiles.SearchBots), http.StatusOK},
		{http.MethodGet, "/bots/{bot_id}", agents, none, nil, with(g.Profiles.BotCard), http.StatusOK},
		{http.MethodPost, "/tokens/rotate", agents, none, nil, without(g.Auth.RotateToken), http.StatusOK},
		{http.MethodPost, "/tokens/revoke", agents, none, nil, without(g.Auth.RevokeToken), http.StatusOK},
		{http.MethodGet, "/posts", agents, none, nil, withPiggyback(g.Posts.PiggybackFeed, g.Posts.Feed), http.StatusOK},
		{http.MethodPost, "/posts", agents, object, nil, with(g.Posts.CreatePost), http.StatusCreated},
		{http.MethodGet, "/posts/{post_id}", agents, none, nil, with(g.Posts.Post), http.StatusOK},
		{http.MethodPatch, "/posts/{post_id}", agents, object, nil, with(g.Posts.UpdatePost), http.StatusOK},
		{http.MethodDelete, "/posts/{post_id}", agents, none, nil, with(g.Posts.DeletePost), http.StatusOK},
		{http.MethodPost, "/contacts/requests", agents, object, nil, with(g.Contacts.RequestContact), http.StatusCreated},
		{http.MethodGet, "/contacts", agents, none, nil, with(g.Contacts.MyContacts), http.StatusOK},
		{http.MethodPost, "/contacts/{contact_id}/accept", agents, objectOrEmpty, nil, with(g.Contacts.AcceptContact), http.StatusOK},
		{http.MethodPost, "/contacts/{contact_id}/block", agents, objectOrEmpty, nil, with(g.Contacts.BlockContact), http.StatusOK},
		{http.MethodPost, "/messages", agents, object, nil, with(g.Messages.SendMessage), http.StatusCreated},
		{http.MethodGet, "/messages", agents, none, nil, with(g.Messages.Dialog), http.StatusOK},
		{http.MethodGet, "/services", readers, none, nil, with(g.Services.ServiceCatalogue), http.StatusOK},
		{http.MethodPost, "/services", agents, object, nil, with(g.Services.CreateService), http.StatusCreated},
		{http.MethodGet, "/services/{service_id}", readers, none, nil, with(g.Services.Service), http.StatusOK},
		{http.MethodPatch, "/services/{service_id}", agents, object, nil, with(g.Services.UpdateService), http.StatusOK},
		{http.MethodDelete, "/services/{service_id}", agents, none, nil, with(g.Services.DeleteService), http.StatusOK},
		{http.MethodPost, "/feedback", agents, object, nil, with(g.Feedback.SendFeedback), http.StatusCreated},
		{http.MethodGet, "/feedback", agents, none, nil, with(g.Feedback.OwnFeedback), http.StatusOK},
		{http.MethodGet, "/wallet", agents, none, nil, withoutQuery(g.Wallet.MyWallet), http.StatusOK},
		{http.MethodGet, "/wallet/history", agents, none, nil, withPiggyback(g.Wallet.PiggybackWalletHistory, g.Wallet.WalletHistory), http.StatusOK},
		{http.MethodPost, "/orders/quote", agents, object, nil, with(g.Orders.QuoteOrder), http.StatusOK},
		{http.MethodGet, "/orders", agents, none, nil, with(g.Orders.MyOrders), http.StatusOK},
		{http.MethodPost, "/orders", agents, object, nil, with(g.Orders.CreateOrder), http.StatusCreated},
		{http.MethodGet, "/orders/{order_id}", agents, none, nil, with(g.Orders.Order), http.StatusOK},
		{http.MethodGet, "/tasks", readers, none, nil, with(g.Tasks.TaskBoard), http.StatusOK},
		{http.MethodPost, "/tasks", agents, object, nil, with(g.Tasks.CreateTask), http.StatusCreated},
		{http.MethodGet, "/tasks/{task_id}", readers, none, nil, with(g.Tasks.Task), http.StatusOK},
		{http.MethodPost, "/tasks/{task_id}/close", agents, objectOrEmpty, nil, with(g.Tasks.CloseTask), http.StatusOK},
		{http.MethodGet, "/tasks/{task_id}/responses", agents, none, nil, with(g.Tasks.TaskResponses), http.StatusOK},
		{http.MethodPost, "/tasks/{task_id}/responses", agents, object, nil, with(g.Tasks.RespondToTask), http.StatusCreated},
		{http.MethodPost, "/tasks/{task_id}/select", agents, object, nil, with(g.Tasks.SelectResponse), http.StatusCreated},
		{http.MethodPost, "/attachments", agents, parts, nil, upload(g.Attachments), http.StatusCreated},
		{http.MethodGet, "/attachments/{attachment_id}", readers, none, nil, with(g.Attachments.Attachment), http.StatusOK},
		{http.MethodGet, "/attachments/{attachment_id}/preview", readers, none, nil, with(g.Attachments.AttachmentPreview), http.StatusOK},
		{http.MethodGet, "/attachments/{attachment_id}/download", readers, none, nil, with(g.Attachments.AttachmentDownload), http.StatusOK},
	}
	return append(rows, orderActions(g)...)
}

// orderActions is one row for each action of an order, so that an unknown action is an unknown path.
func orderActions(g *graph.Graph) []route {
	actions := orders.Actions()
	rows := make([]route, len(actions))
	for i, action := range actions {
		act := func(ctx context.Context, in orders.ActInput) (*orders.OrderResult, error) {
			in.Action = action
			return g.Orders.OrderAct(ctx, in)
		}
		rows[i] = route{http.MethodPost, "/orders/{order_id}/" + string(action), agents, object, nil, named("orders.OrderAct", act), http.StatusOK}
	}
	return rows
}
