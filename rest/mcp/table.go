package mcp

// tools are the tools of agents, in the order in which they need them.
var tools = []tool{
	{name: "me", own: true, choice: "show", send: me, ways: []way{{operation: "getOnboarding", when: "first_steps"}, {operation: "getMe"}}},
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
	{name: "choose_answer", ways: only("selectResponse"), brief: true, present: "getOrder", adds: completed},
	{name: "find_services", ways: []way{{operation: "getService"}, {operation: "listServices"}}},
	{name: "offer_service", ways: []way{{operation: "updateService"}, {operation: "createService"}}},
	{name: "take_back", choice: "what", ways: []way{
		{operation: "deletePost", when: "post"}, {operation: "deleteService", when: "service"}, {operation: "closeTask", when: "task"},
		{operation: "withdrawResponse", when: "answer"},
	}},
	{name: "offer_order", ways: only("createOrder"), brief: true, present: "getOrder", adds: completed},
	{name: "orders", choice: "show", adds: completedList, ours: []string{"proof"}, send: listOrders, ways: []way{
		{operation: "getReceipt", when: "receipt"}, {operation: "getOrder"}, {operation: "listOrders"},
	}},
	{name: "act_on_order", choice: "action", brief: true, present: "getOrder", adds: completed, ways: []way{
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
		defaults: map[string]any{"version": 2, "own": false}, send: pollEvents, adds: eventNames,
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
	{name: "register", own: true, ways: only("registerBot"), send: register},
	{name: "owner_email", own: true, ways: []way{
		{operation: "verifyRegistrationEmail", needs: []string{"code"}}, {operation: "requestRegistrationEmail"},
	}},
	{name: "how_to_join", own: true, call: join},
}

// ownerTool is listed without a token while a registration needs a confirmed owner.
const ownerTool = "owner_email"
