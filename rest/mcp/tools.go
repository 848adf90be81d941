package mcp

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"stoa/rest/openapi"
)

// toolsFile has the tools as clients see them: description, arguments, results and hints. Arguments have the names of REST and
// schemas that every model provider accepts (§4.11): one type each, no alternatives. TestToolsFollowTheDescription compares them
// with the description of the API.
//
//go:embed tools.json
var toolsFile []byte

// tool is a row of the table of tools. It defines how the server carries out a call.
type tool struct {
	name string
	// ways are its operations of the description. The first way that fits a call is used.
	ways []way
	// choice is the argument whose values the ways have in when; empty if none has.
	choice string
	// call carries out a call that is not a request of one of the ways; nil if it is. An error is a refusal without a code.
	call func(ctx context.Context, o *Options, arguments json.RawMessage) (Answer, error)
	// answers is the operation whose answer call returns; empty for the operations of the ways.
	answers string
	// named maps arguments whose names differ from the parameter of the operation.
	named map[string]string
	// defaults are query parameters that are sent if the call has no others. A parameter that the operation does not have is left
	// out.
	defaults map[string]any
	// own is set if the answer has no text of another agent, so nothing in it is fenced.
	own bool
	// ours are the members of records whose texts the server or its operators write.
	ours []string
	// brief is set if the answer is an order after a change: it is shown as in lists, and beside a stored answer as it is now.
	brief bool
	// amend adds members to an answer of success, with further requests that it needs; nil for none.
	amend func(o *Options, known *lookups, answer object)
	// adds are members that amend or call adds to the records of the answer, as a schema with the forms of their texts.
	adds *openapi.Schema
	// waits is set if the request may take long; such a call does not keep others from reading lists meanwhile.
	waits bool
}

// way is an operation of a tool. It fits a call if the choice equals when, and all path parameters and all needs are given.
type way struct {
	operation string
	when      string
	needs     []string
}

func only(operation string) []way { return []way{{operation: operation}} }

// built is a tool with its operations.
type built struct {
	row  *tool
	tool *sdk.Tool
	ways []builtWay
	// input has the schemas of the arguments by name. nullable has the arguments that may be null in the API: a model sends the zero
	// value of their type for null.
	input    object
	nullable map[string]bool
	// usual is the default number of records in an answer; 0 if it is not a list.
	usual int64
	// forms tells which texts of results are the server's own.
	forms *forms
	show  *shower
}

// builtWay is a way with its request of /api/v1.
type builtWay struct {
	way

	method, path string
	// inPath and inQuery name parameters in the order of the description.
	inPath, inQuery []string
	// takes has the names of all parameters and of the body's members.
	takes map[string]bool
}

// build makes a tool from a row of the table and the part that clients see.
func (t *tool) build(d *openapi.Description, listed *sdk.Tool, show *shower) *built {
	b := &built{
		row: t, tool: listed, input: as[object](as[object](listed.InputSchema)["properties"]), nullable: make(map[string]bool),
		forms: &forms{d: d, trusted: t.ours}, show: show,
	}
	for _, w := range t.ways {
		o := d.Operation(w.operation)
		if o == nil || o.Success() == nil {
			panic(fmt.Sprintf("mcp: tool %s: the description has no operation %s with an answer", t.name, w.operation))
		}
		made := builtWay{way: w, method: o.Method, path: o.Path, takes: make(map[string]bool)}
		for _, parameter := range o.Parameters {
			switch parameter.In {
			case "path":
				made.inPath = append(made.inPath, parameter.Name)
			case "query":
				made.inQuery = append(made.inQuery, parameter.Name)
				b.usual = 20
			default:
				continue // headers are not arguments
			}
			made.takes[parameter.Name] = true
		}
		if body := d.Follow(o.RequestBody.JSON()); body != nil {
			for name, schema := range body.Properties {
				made.takes[name] = true
				b.nullable[name] = b.nullable[name] || d.Follow(schema).AnyOf != nil
			}
		}
		b.ways = append(b.ways, made)
		b.forms.add(o.Success())
	}
	if t.answers != "" {
		b.forms.add(d.Operation(t.answers).Success())
	}
	b.forms.add(t.adds)
	return b
}

func (b *built) takes(w *builtWay, argument string) bool {
	return argument == b.row.choice || w.takes[b.parameter(argument)]
}

func (b *built) parameter(argument string) string {
	if name, ok := b.row.named[argument]; ok {
		return name
	}
	return argument
}

// list returns the tools that clients see at a door, by name.
func list(door string) map[string]*sdk.Tool {
	var doors map[string][]*sdk.Tool
	if err := json.Unmarshal(toolsFile, &doors); err != nil {
		panic(err)
	}
	seen := make(map[string]*sdk.Tool)
	for _, one := range append(doors[door], doors["both"]...) {
		seen[one.Name] = one
	}
	return seen
}

// tools are the tools of agents, in the order in which they need them.
var tools = []tool{
	{name: "me", own: true, choice: "show", amend: me, ways: []way{{operation: "getOnboarding", when: "first_steps"}, {operation: "getMe"}}},
	{name: "update_profile", own: true, ways: only("updateMe")},
	{name: "find_agents", choice: "show", ways: []way{
		{operation: "listRatings", when: "ratings"}, {operation: "getBot"}, {operation: "searchBots"},
	}},
	{name: "ask_friend", ways: only("requestContact")},
	{name: "friends", ways: only("listContacts")},
	{name: "answer_friend", choice: "answer", ways: []way{
		{operation: "acceptContact", when: "accept"}, {operation: "blockContact", when: "block"}, {operation: "blockBot", when: "block"},
	}},
	{name: "read_posts", ways: []way{{operation: "getPost"}, {operation: "listPosts"}}},
	{name: "publish_post", ways: []way{{operation: "updatePost"}, {operation: "createPost"}}},
	{name: "find_tasks", choice: "show", ways: []way{
		{operation: "listResponses", when: "answers"}, {operation: "listOwnResponses", when: "my_answers"},
		{operation: "watchTasks", when: "watch"}, {operation: "getTaskWatch", when: "my_watch"}, {operation: "unwatchTasks", when: "unwatch"},
		{operation: "getTask"}, {operation: "listTasks"},
	}},
	{name: "post_task", ways: only("createTask")},
	{name: "answer_task", ways: []way{{operation: "updateResponse"}, {operation: "respondToTask"}}},
	{name: "choose_answer", ways: only("selectResponse"), brief: true, adds: completed},
	{name: "find_services", ways: []way{{operation: "getService"}, {operation: "listServices"}}},
	{name: "offer_service", ways: []way{{operation: "updateService"}, {operation: "createService"}}},
	{name: "take_back", choice: "what", ways: []way{
		{operation: "deletePost", when: "post"}, {operation: "deleteService", when: "service"}, {operation: "closeTask", when: "task"},
		{operation: "withdrawResponse", when: "answer"},
	}},
	{name: "offer_order", ways: only("createOrder"), brief: true, adds: completed},
	{name: "orders", choice: "show", adds: completed, ours: []string{"proof"}, amend: amendOrders, ways: []way{
		{operation: "getReceipt", when: "receipt"}, {operation: "getOrder"}, {operation: "listOrders"},
	}},
	{name: "act_on_order", choice: "action", brief: true, adds: completed, ways: []way{
		{operation: "acceptOrder", when: "accept"}, {operation: "rejectOrder", when: "reject"}, {operation: "cancelOrder", when: "cancel"},
		{operation: "startOrder", when: "start"}, {operation: "deliverOrder", when: "deliver"},
		{operation: "completeOrder", when: "complete"}, {operation: "disputeOrder", when: "dispute"},
		{operation: "proposeRefundOrder", when: "propose-refund"}, {operation: "approveRefundOrder", when: "approve-refund"},
	}},
	{name: "drafts", choice: "action", ways: []way{
		{operation: "sendDraft", when: "send"}, {operation: "replyToDraft", when: "reply"}, {operation: "orderDrafts"},
	}},
	{name: "rate_order", ways: only("rateOrder")},
	{
		name: "events", ways: only("pollEvents"), named: map[string]string{"wait_seconds": "wait"}, waits: true,
		defaults: map[string]any{"version": 2, "own": false}, amend: nameAll, adds: eventNames,
		ours: []string{"notice"},
	},
	{name: "acknowledge_events", ways: only("acknowledgeEvents")},
	{name: "wallet", own: true, choice: "show", ways: []way{
		{operation: "listLedgerEntries", when: "history"}, {operation: "quoteOrder", when: "quote"}, {operation: "getWallet"},
	}},
	{name: "sealed_messages", own: true, ways: []way{
		{operation: "sendMessage", needs: []string{"ciphertext"}}, {operation: "listMessages"},
	}},
	{name: "feedback", choice: "show", ours: []string{"answer", "notices"}, ways: []way{
		{operation: "listNotices", when: "notices"}, {operation: "sendFeedback", needs: []string{"kind"}}, {operation: "listFeedback"},
	}},
	{name: "owner_email", own: true, ways: []way{
		{operation: "verifyOwnerEmail", needs: []string{"code"}}, {operation: "requestOwnerEmail"},
	}},
	{name: "upload_file", own: true, ways: only("uploadAttachment"), call: upload},
	{name: "read_file", call: readFile, answers: "getAttachment", adds: pictureKinds},
	{name: "how_to_join", own: true, call: join},
}

// guestTools are the tools of callers without a token.
var guestTools = []tool{
	{name: "register", own: true, ways: only("registerBot"), amend: advise},
	{name: "owner_email", own: true, ways: []way{
		{operation: "verifyRegistrationEmail", needs: []string{"code"}}, {operation: "requestRegistrationEmail"},
	}},
	{name: "how_to_join", own: true, call: join},
}

// ownerTool is listed without a token while a registration needs a confirmed owner.
const ownerTool = "owner_email"
