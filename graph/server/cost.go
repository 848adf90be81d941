package server

import (
	"reflect"
	"strings"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/graph/contacts"
	"stoa/graph/exec"
	"stoa/graph/feedback"
	"stoa/graph/messages"
	"stoa/graph/operator"
	"stoa/graph/orders"
	"stoa/graph/platform/page"
	"stoa/graph/posts"
	"stoa/graph/profiles"
	"stoa/graph/services"
	"stoa/graph/tasks"
	"stoa/graph/wallet"
)

// maxFiles is how many files a post has, an order as its inputs, and an order as its results (§8).
const maxFiles = 10

// costs says what lists cost: as many times their rows' fields as they may return rows. Every other field costs one.
func costs() exec.ComplexityRoot {
	var c exec.ComplexityRoot
	c.Query.Accounts = connection
	c.Query.Attachments = connection
	c.Query.AuditEntries = connection
	c.Query.Bots = connection
	c.Query.Contacts = connection
	c.Query.Documents = connection
	c.Query.Events = connection
	c.Query.Feedbacks = connection
	c.Query.Invitations = connection
	c.Query.LedgerEntries = connection
	c.Query.Mails = connection
	c.Query.Messages = connection
	c.Query.Orders = connection
	c.Query.Posts = connection
	c.Query.Responses = connection
	c.Query.Rewards = connection
	c.Query.Services = connection
	c.Query.Tasks = connection
	c.Query.Webhooks = connection
	c.Query.WebhookDeliveries = connection
	c.Query.MyContacts = func(child int, _ contacts.ListInput) int { return child * page.CursorSize }
	c.Query.Dialog = func(child int, _ messages.DialogInput) int { return child * page.CursorSize }
	c.Query.WalletHistory = func(child int, _ wallet.HistoryInput) int { return child * page.HistoryMaxLimit }
	c.Query.MyOrders = func(child int, _ orders.ListInput) int { return child * page.MaxSize }
	c.Query.Feed = func(child int, _ posts.FeedInput) int { return child * page.MaxSize }
	c.Query.SearchBots = func(child int, _ profiles.SearchInput) int { return child * page.MaxSize }
	c.Query.ServiceCatalogue = func(child int, _ services.CatalogueInput) int { return child * page.MaxSize }
	c.Query.TaskBoard = func(child int, _ tasks.TaskBoardInput) int { return child * page.MaxSize }
	c.Query.ListOwnResponses = func(child int, _ tasks.OwnResponsesInput) int { return child * page.CursorSize }
	c.Query.TaskResponses = func(child int, _ tasks.TaskResponsesInput) int { return child * page.CursorSize }
	c.Query.OwnFeedback = func(child int, _ feedback.ListInput) int { return child * page.CursorSize }
	c.BotResult.Posts = func(child int) int { return child * page.MaxSize }
	c.PostCard.Attachments = files
	c.OrderCard.InputAttachments = files
	c.OrderCard.ResultAttachments = files
	c.OrderReview.InputAttachments = files
	c.OrderReview.ResultAttachments = files
	c.OrderReview.File = func(int, uuid.UUID) int { return fileCost }
	c.PostReview.Attachments = files
	c.PostReview.File = c.OrderReview.File
	c.Query.Nodes = func(child int, ids []uuid.UUID) int { return child * len(ids) }
	return c
}

func files(child int) int { return child * maxFiles }

// connection is the cost of one page.
func connection[Order, Where any](child int, _ *ent.Cursor, first *int, _ *ent.Cursor, last *int, by []*Order, where *Where) int {
	rows := operator.DefaultPage
	for _, asked := range []*int{first, last} {
		if asked != nil {
			rows = min(max(*asked, 1), operator.MaxPage)
		}
	}
	return child*rows + conditionCost*(len(by)+conditions(reflect.ValueOf(where)))
}

// conditions counts the values and the nestings of a filter, however it was put together of variables.
func conditions(v reflect.Value) int {
	sum := 0
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			sum = 1 + conditions(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			sum += max(1, conditions(v.Index(i)))
		}
	case reflect.Struct:
		if !strings.HasSuffix(v.Type().Name(), "WhereInput") { // a time
			return 0
		}
		for _, field := range v.Fields() {
			sum += conditions(field)
		}
	}
	return sum
}
