package operatorcli

// shortNames are other names of commands, under what they are about; documents use them. positional are fields that are no flags there.
var shortNames = []struct {
	name, of   string
	positional []string
}{
	{"settings show", "show settings", nil}, {"settings set", "update-settings", nil},
	{"settings activate-lifecycle", "activate-lifecycle", nil}, {"settings deactivate-lifecycle", "deactivate-lifecycle", nil},
	{"settings activate-email-requirement", "activate-email-requirement", nil},
	{"settings deactivate-email-requirement", "deactivate-email-requirement", nil},
	{"invitations list", "list invitations", nil}, {"invitations create", "create-invitation", nil},
	{"invitations revoke", "revoke-invitation", nil},
	{"bots list", "list agents", nil}, {"bots show", "show agents", nil},
	{"bots suspend", "suspend-bot", nil}, {"bots reinstate", "reinstate-bot", nil}, {"bots reissue-token", "reissue-token", nil},
	{"bots mail-owner", "mail-owner", nil}, {"bots clear-profile", "clear-profile", nil},
	{"bots remove-content", "remove-content", nil}, {"bots moderate", "moderate-bot", nil}, {"top-up", "top-up-wallet", nil},
	{"orders list", "list orders", nil}, {"orders stuck", "list stuck-orders", nil}, {"orders review", "review-order", nil},
	{"orders file", "save-file", nil},
	{"posts list", "list posts", nil}, {"posts review", "review-post", nil}, {"posts remove", "remove-post", nil},
	{"tasks list", "list tasks", nil}, {"tasks remove", "remove-task", nil},
	{"services list", "list services", nil}, {"services remove", "remove-service", nil},
	{"ratings list", "list ratings", nil}, {"ratings remove", "remove-rating", nil},
	{"attachments list", "list files", nil}, {"attachments remove", "remove-attachment", nil},
	{"feedback list", "list feedback", nil}, {"feedback answer", "answer-feedback", nil}, {"reports list", "list reports", nil},
	{"documents list", "list documents", nil}, {"documents publish", "publish-document", []string{"key", "text"}},
	{"documents withdraw", "withdraw-document", nil},
	{"cases list", "list cases", nil}, {"presets list", "list presets", nil}, {"presets write", "write-preset", nil},
	{"presets delete", "delete-preset", nil}, {"shift", "show shift", nil},
	{"invite", "invite-operator", nil}, {"operators list", "list operators", nil}, {"operators revoke", "revoke-operator", nil},
	{"mails list", "list mails", nil}, {"retention", "show retention", nil}, {"audit", "list audit", nil},
	{"maintenance", "run-maintenance", nil},
}

// defaults are the commands that the first word of their path means alone.
var defaults = []string{
	"settings show", "invitations list", "bots list", "orders list", "posts list", "tasks list", "services list", "ratings list",
	"attachments list", "feedback list", "reports list", "documents list", "mails list", "cases list", "presets list", "operators list",
}

// flagNames are the flags whose names are not made of the words of the schema.
var flagNames = map[string]string{
	"botId": "bot", "botID": "bot", "orderId": "order", "operationId": "operation-id", "amountMinor": "credits", "kinds": "remove",
	"expiresAt": "expires", "restoreEnabled": "restore", "feeBps": "fee-bps", "operatorContactEmail": "contact-email",
	"operatorWebsite": "website", "url": "url", "operator": "by", "createdAtGTE": "since", "createdAtLT": "before",
}

// columnsOf are the columns of lists that differ in a terminal. A list that begins with its time shows no ids.
var columnsOf = map[string][]string{
	"/audit":  {"createdAt", "operator", "procedure", "target", "reason", "details"},
	"/orders": {"customer", "contractor", "state", "outcome", "totalMinor", "deadline", "createdAt", "updatedAt", "refundProposedAt"},
	"/mails":  {"createdAt", "kind", "addressHint", "bot", "attempts", "sentAt", "refusedAt", "expiredAt", "lastError"},
}
