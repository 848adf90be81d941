package server

import (
	"reflect"
	"strings"

	"github.com/google/uuid"

	"stoa/graph/exec"
	"stoa/graph/operator"
	"stoa/graph/platform/page"
)

// maxFiles is how many files a post has, an order as its inputs, and an order as its results (§8).
const maxFiles = 10

// rows maps lists, by type and field, to the most rows that they return. Connections state it in their arguments.
var rows = map[string]int{
	"Query.MyContacts": page.CursorSize, "Query.Dialog": page.CursorSize, "Query.WalletHistory": page.HistoryMaxLimit,
	"Query.MyOrders": page.MaxSize, "Query.Feed": page.MaxSize, "Query.SearchBots": page.MaxSize, "Query.ServiceCatalogue": page.MaxSize,
	"Query.TaskBoard": page.MaxSize, "Query.ListOwnResponses": page.CursorSize, "Query.TaskResponses": page.CursorSize,
	"Query.OwnFeedback": page.CursorSize, "BotResult.Posts": page.MaxSize, "PostCard.Attachments": maxFiles,
	"OrderCard.InputAttachments": maxFiles, "OrderCard.ResultAttachments": maxFiles, "OrderReview.InputAttachments": maxFiles,
	"OrderReview.ResultAttachments": maxFiles, "PostReview.Attachments": maxFiles,
}

// costs returns the cost of each field. A list costs its rows' fields times the most rows that it returns, the bytes of a file
// cost fileCost, each condition of a filter costs conditionCost, and every other field costs one.
func costs() exec.ComplexityRoot {
	var c exec.ComplexityRoot
	types := reflect.ValueOf(&c).Elem()
	for holder, fields := range types.Fields() {
		for field, cost := range fields.Fields() {
			most := rows[holder.Name+"."+field.Name]
			bytes := field.Name == "File" && strings.HasSuffix(holder.Name, "Review")
			if connects(field.Type) || most > 0 || bytes {
				cost.Set(reflect.MakeFunc(field.Type, func(arguments []reflect.Value) []reflect.Value {
					sum := int(arguments[0].Int()) * max(most, 1)
					switch {
					case bytes:
						sum = fileCost
					case most == 0:
						sum = int(arguments[0].Int())*rowsOf(arguments) + conditionCost*(arguments[5].Len()+conditions(arguments[6]))
					}
					return []reflect.Value{reflect.ValueOf(sum)}
				}))
			}
		}
	}
	c.Query.Nodes = func(child int, ids []uuid.UUID) int { return child * len(ids) }
	return c
}

// connects reports whether a cost function is a connection's: child, after, first, before, last, orderBy, where.
func connects(cost reflect.Type) bool {
	return cost.Kind() == reflect.Func && cost.NumIn() == 7 && cost.In(2) == reflect.TypeFor[*int]() && cost.In(4) == reflect.TypeFor[*int]()
}

// rowsOf is how many rows a page of a connection may have.
func rowsOf(arguments []reflect.Value) int {
	for _, i := range []int{2, 4} { // first, last
		if asked := arguments[i]; !asked.IsNil() {
			return min(max(int(asked.Elem().Int()), 1), operator.MaxPage)
		}
	}
	return operator.DefaultPage
}

// conditions counts the values and the nestings of a filter, including those from variables.
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
