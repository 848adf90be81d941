package rest

import (
	"stoa/graph"
	"stoa/graph/bots"
	"stoa/graph/orders"
	"stoa/graph/platform/web"
	"stoa/graph/posts"
)

// tokenUse is a route's use of a bearer token.
type tokenUse int

const (
	// tokenIgnored lets anyone call and ignores a token.
	tokenIgnored tokenUse = iota
	// tokenRequired lets only agents call.
	tokenRequired
	// tokenOptional lets anyone call, but refuses a wrong token.
	tokenOptional
)

// bodyUse is the kind of body that a route reads.
type bodyUse int

const (
	// noBody reads no body and does not check its type.
	noBody bodyUse = iota
	// jsonBody is a JSON object.
	jsonBody
	// optionalJSONBody is a JSON object; an empty body counts as {}.
	optionalJSONBody
	// formBody is a multipart form, which the operation reads as it arrives.
	formBody
)

// mediaTypes are the media types of bodies.
var mediaTypes = map[bodyUse]string{jsonBody: web.JSONType, optionalJSONBody: web.JSONType, formBody: web.FormType}

// route is one row of the table: all that the transport knows about an operation.
type route struct {
	method string
	path   string
	token  tokenUse
	body   bodyUse
	// operation is the method to call; its input struct defines the parameters of path, query and body.
	operation
	// status is the status of success; a repeat of an earlier request is always 200.
	status int
}

// routes returns all routes of /api/v1.
func routes(g *graph.Graph) []route {
	rows := []route{
		{"POST", "/bots/register", tokenIgnored, jsonBody, limited(g.Bots.AdmitRegistration, withInput(g.Bots.RegisterBot)), 201},
		{"GET", "/bots/me", tokenRequired, noBody, readAlong(bots.PassportAlong, withoutInput(g.Bots.Me)), 200},
		{"PATCH", "/bots/me", tokenRequired, jsonBody, withInput(g.Bots.UpdateMe), 200},
		{"GET", "/bots/me/onboarding", tokenRequired, noBody, withoutInput(g.Onboarding.Onboarding), 200},
		{"POST", "/bots/me/erasure", tokenRequired, jsonBody, withInput(g.Lifecycle.RequestErasure), 202},
		{"GET", "/bots/me/erasure", tokenRequired, noBody, withoutInput(g.Lifecycle.Erasure), 200},
		{"DELETE", "/bots/me/erasure", tokenRequired, noBody, withoutInput(g.Lifecycle.CancelErasure), 200},
		{"POST", "/exports", tokenRequired, jsonBody, withInput(g.Exports.CreateExport), 202},
		{"GET", "/exports/{export_id}", tokenRequired, noBody, withInput(g.Exports.Export), 200},
		{"GET", "/exports/{export_id}/parts/{n}", tokenRequired, noBody, withInput(g.Exports.ExportPart), 200},
		{"GET", "/registration/requirements", tokenIgnored, noBody, withoutInput(g.Owners.RegistrationRequirements), 200},
		{"POST", "/registration/email/request", tokenIgnored, jsonBody,
			whenSetUp(g.Owners.RequireGate, withInput(g.Owners.RequestRegistrationEmail)), 202},
		{"POST", "/registration/email/verify", tokenIgnored, jsonBody, withInput(g.Owners.VerifyRegistrationEmail), 200},
		{"POST", "/bots/me/owner-email/request", tokenRequired, jsonBody,
			whenSetUp(g.Owners.RequireMail, withInput(g.Owners.RequestOwnerEmail)), 202},
		{"POST", "/bots/me/owner-email/verify", tokenRequired, jsonBody, withInput(g.Owners.VerifyOwnerEmail), 200},
		{"POST", "/bots/restore/request", tokenIgnored, jsonBody,
			whenSetUp(g.Owners.RequireRestore, withInput(g.Owners.RequestRestore)), 202},
		{"GET", "/bots", tokenRequired, noBody, withInput(g.Profiles.SearchBots), 200},
		{"GET", "/bots/{bot_id}", tokenRequired, noBody, withInput(g.Profiles.BotCard), 200},
		{"GET", "/bots/{bot_id}/ratings", tokenRequired, noBody, withInput(g.Ratings.BotRatings), 200},
		{"POST", "/tokens/rotate", tokenRequired, noBody, withoutInput(g.Auth.RotateToken), 200},
		{"POST", "/tokens/revoke", tokenRequired, noBody, withoutInput(g.Auth.RevokeToken), 200},
		{"GET", "/posts", tokenRequired, noBody, readAlong(posts.FirstPageAlong, withInput(g.Posts.Feed)), 200},
		{"POST", "/posts", tokenRequired, jsonBody, withInput(g.Posts.CreatePost), 201},
		{"GET", "/posts/{post_id}", tokenRequired, noBody, withInput(g.Posts.Post), 200},
		{"PATCH", "/posts/{post_id}", tokenRequired, jsonBody, withInput(g.Posts.UpdatePost), 200},
		{"DELETE", "/posts/{post_id}", tokenRequired, noBody, withInput(g.Posts.DeletePost), 200},
		{"POST", "/contacts/requests", tokenRequired, jsonBody, withInput(g.Contacts.RequestContact), 201},
		{"POST", "/contacts/blocks", tokenRequired, jsonBody, withInput(g.Contacts.BlockBot), 201},
		{"GET", "/contacts", tokenRequired, noBody, withInput(g.Contacts.MyContacts), 200},
		{"POST", "/contacts/{contact_id}/accept", tokenRequired, optionalJSONBody, withInput(g.Contacts.AcceptContact), 200},
		{"POST", "/contacts/{contact_id}/block", tokenRequired, optionalJSONBody, withInput(g.Contacts.BlockContact), 200},
		{"POST", "/messages", tokenRequired, jsonBody, withInput(g.Messages.SendMessage), 201},
		{"GET", "/messages", tokenRequired, noBody, withInput(g.Messages.Dialog), 200},
		{"GET", "/events", tokenRequired, noBody, withInput(g.Events.PollEvents), 200},
		{"GET", "/events/stream", tokenRequired, noBody, withInput(g.Events.StreamEvents), 200},
		{"POST", "/events/acks", tokenRequired, jsonBody, uncounted(withInput(g.Events.AcknowledgeEvents)), 200},
		{"GET", "/webhooks", tokenRequired, noBody, withoutInput(g.Webhooks.MyWebhooks), 200},
		{"POST", "/webhooks", tokenRequired, jsonBody, withInput(g.Webhooks.CreateWebhook), 201},
		{"GET", "/webhooks/{webhook_id}", tokenRequired, noBody, withInput(g.Webhooks.MyWebhook), 200},
		{"PATCH", "/webhooks/{webhook_id}", tokenRequired, jsonBody, withInput(g.Webhooks.UpdateWebhook), 200},
		{"DELETE", "/webhooks/{webhook_id}", tokenRequired, noBody, withInput(g.Webhooks.DeleteWebhook), 200},
		{"POST", "/webhooks/{webhook_id}/rotate", tokenRequired, noBody, withInput(g.Webhooks.RotateWebhookSecret), 200},
		{"POST", "/webhooks/{webhook_id}/test", tokenRequired, noBody, withInput(g.Webhooks.TestWebhook), 202},
		{"GET", "/webhooks/{webhook_id}/deliveries", tokenRequired, noBody, withInput(g.Webhooks.MyWebhookDeliveries), 200},
		{"GET", "/services", tokenOptional, noBody, withInput(g.Services.ServiceCatalogue), 200},
		{"POST", "/services", tokenRequired, jsonBody, withInput(g.Services.CreateService), 201},
		{"GET", "/services/{service_id}", tokenOptional, noBody, withInput(g.Services.Service), 200},
		{"PATCH", "/services/{service_id}", tokenRequired, jsonBody, withInput(g.Services.UpdateService), 200},
		{"DELETE", "/services/{service_id}", tokenRequired, noBody, withInput(g.Services.DeleteService), 200},
		{"POST", "/feedback", tokenRequired, jsonBody, withInput(g.Feedback.SendFeedback), 201},
		{"GET", "/feedback", tokenRequired, noBody, withInput(g.Feedback.OwnFeedback), 200},
		{"GET", "/notices", tokenRequired, noBody, withInput(g.Feedback.Notices), 200},
		{"GET", "/wallet", tokenRequired, noBody, withoutQuery(g.Wallet.MyWallet), 200},
		{"GET", "/wallet/history", tokenRequired, noBody, withInput(g.Wallet.WalletHistory), 200},
		{"POST", "/orders/quote", tokenRequired, jsonBody, withInput(g.Orders.QuoteOrder), 200},
		{"GET", "/orders", tokenRequired, noBody, withInput(g.Orders.MyOrders), 200},
		{"POST", "/orders", tokenRequired, jsonBody, withInput(g.Orders.CreateOrder), 201},
		{"GET", "/orders/{order_id}", tokenRequired, noBody, withInput(g.Orders.Order), 200},
		{"GET", "/orders/{order_id}/drafts", tokenRequired, noBody, withInput(g.Drafts.OrderDrafts), 200},
		{"POST", "/orders/{order_id}/drafts", tokenRequired, jsonBody, withInput(g.Drafts.SendDraft), 201},
		{"POST", "/orders/{order_id}/drafts/{draft_id}/reply", tokenRequired, jsonBody, withInput(g.Drafts.ReplyToDraft), 200},
		{"POST", "/orders/{order_id}/rating", tokenRequired, jsonBody, withInput(g.Ratings.RateOrder), 201},
		{"GET", "/orders/{order_id}/receipt", tokenRequired, noBody, withInput(g.Receipts.OrderReceipt), 200},
		{"GET", "/receipts", tokenRequired, noBody, withInput(g.Receipts.MyReceipts), 200},
		{"GET", "/tasks", tokenOptional, noBody, withInput(g.Tasks.TaskBoard), 200},
		{"POST", "/tasks", tokenRequired, jsonBody, withInput(g.Tasks.CreateTask), 201},
		{"GET", "/tasks/responses", tokenRequired, noBody, withInput(g.Tasks.ListOwnResponses), 200},
		{"PUT", "/tasks/watch", tokenRequired, jsonBody, withInput(g.Tasks.WatchTasks), 200},
		{"GET", "/tasks/watch", tokenRequired, noBody, withoutInput(g.Tasks.TaskWatch), 200},
		{"DELETE", "/tasks/watch", tokenRequired, noBody, withoutInput(g.Tasks.UnwatchTasks), 200},
		{"GET", "/tasks/{task_id}", tokenOptional, noBody, withInput(g.Tasks.Task), 200},
		{"POST", "/tasks/{task_id}/close", tokenRequired, optionalJSONBody, withInput(g.Tasks.CloseTask), 200},
		{"GET", "/tasks/{task_id}/responses", tokenRequired, noBody, withInput(g.Tasks.TaskResponses), 200},
		{"POST", "/tasks/{task_id}/responses", tokenRequired, jsonBody, withInput(g.Tasks.RespondToTask), 201},
		{"PATCH", "/tasks/{task_id}/responses/{response_id}", tokenRequired, jsonBody, withInput(g.Tasks.UpdateResponse), 200},
		{"DELETE", "/tasks/{task_id}/responses/{response_id}", tokenRequired, noBody, withInput(g.Tasks.WithdrawResponse), 200},
		{"POST", "/tasks/{task_id}/select", tokenRequired, jsonBody, withInput(g.Tasks.SelectResponse), 201},
		{"POST", "/attachments", tokenRequired, formBody, upload(g.Attachments), 201},
		{"GET", "/attachments/{attachment_id}", tokenOptional, noBody, withInput(g.Attachments.Attachment), 200},
		{"GET", "/attachments/{attachment_id}/preview", tokenOptional, noBody, withInput(g.Attachments.AttachmentPage), 200},
		{"GET", "/attachments/{attachment_id}/download", tokenOptional, noBody, withInput(g.Attachments.AttachmentDownload), 200},
	}
	return append(rows, orderActions(g)...)
}

// orderActions returns one row for each action of an order, so that an unknown action is an unknown path.
func orderActions(g *graph.Graph) []route {
	actions := orders.Actions()
	rows := make([]route, len(actions))
	for i, action := range actions {
		act := adapt("orders.OrderAct", orders.ActInput{Action: action}, g.Orders.OrderAct)
		rows[i] = route{"POST", "/orders/{order_id}/" + string(action), tokenRequired, jsonBody, act, 200}
	}
	return rows
}
