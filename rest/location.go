package rest

import (
	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/orders"
	"stoa/graph/posts"
	"stoa/graph/services"
	"stoa/graph/tasks"
	"stoa/graph/webhooks"
)

// location is the address of the record that an answer shows; empty if no GET returns that record by itself.
func location(answer any) string {
	switch made := answer.(type) {
	case *bots.Registration:
		return "/api/v1/bots/" + made.Bot.ID.String()
	case *posts.PostResult:
		return "/api/v1/posts/" + made.Post.ID.String()
	case *services.ServiceResult:
		return "/api/v1/services/" + made.Service.ID.String()
	case *tasks.TaskResult:
		return "/api/v1/tasks/" + made.Task.ID.String()
	case *orders.OrderResult:
		return "/api/v1/orders/" + made.Order.ID.String()
	case *attachments.UploadResult:
		return "/api/v1/attachments/" + made.Attachment.ID.String()
	case *webhooks.SecretResult:
		return "/api/v1/webhooks/" + made.Webhook.ID.String()
	default:
		return ""
	}
}
