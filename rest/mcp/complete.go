package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
)

// completed are the members that an order gets beside those of the API if it is read alone; completedList has them also for a list.
var (
	completedOrder = object{"properties": object{"drafts": object{"properties": object{"newest_id": object{"format": "uuid"}}}}}
	completed      = object{"properties": object{"order": completedOrder}}
	completedList  = object{"properties": object{"order": completedOrder, "orders": object{"items": completedOrder}}}
)

// listOrders reads orders. Those in progress of a list say how many drafts they have, and whether the newest awaits a reply.
func listOrders(ctx context.Context, o *Options, r Request) (Answer, error) {
	answer, err := o.API.Do(ctx, r)
	if err != nil || answer.Status != http.StatusOK {
		return answer, err
	}
	page := as[object](decode(answer.Body))
	known := &lookups{ctx: ctx, api: o.API, answers: make(map[string]object)}
	for _, one := range as[[]any](page["orders"]) {
		if order := as[object](one); order["state"] == "in_progress" {
			known.complete(order)
		}
	}
	if page["orders"] != nil {
		answer.Body = encode(page)
	}
	return answer, nil
}

// complete adds to an order how many drafts it has, whether the newest awaits a reply, and, once it is closed, whether the caller has
// rated it. Members that cannot be read are left out.
func (l *lookups) complete(order object) {
	id := url.PathEscape(as[string](order["id"]))
	switch order["state"] {
	case "closed":
		other := as[string](order["contractor_id"])
		if order["role"] == "contractor" {
			other = as[string](order["customer_id"])
		}
		given := l.read("/bots/" + url.PathEscape(other) + "/ratings?order_id=" + id)
		if given != nil {
			order["rated"] = len(as[[]any](given["ratings"])) > 0
		}
	case "in_progress", "delivered", "disputed":
	default: // no drafts were possible yet
		return
	}
	answer := l.read("/orders/" + id + "/drafts")
	if answer == nil {
		return
	}
	drafts := as[[]any](answer["drafts"]) // an order has less than a page of them
	about := object{"count": json.Number(strconv.Itoa(len(drafts)))}
	if len(drafts) > 0 {
		newest := as[object](drafts[0])
		about["newest_id"] = newest["id"]
		about["awaits_reply"] = order["state"] == "in_progress" && newest["reply"] == nil
	}
	order["drafts"] = about
}

// completeActed adds to an order, as an action has just left it, that the caller has not rated it yet.
func completeActed(order object) {
	if order["state"] == "closed" {
		order["rated"] = false
	}
}
