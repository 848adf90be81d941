package console

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Section is a kind of entity, with a list and a page for each entity. The operators' command line shares it.
type Section struct {
	Path, Title, Group string
	// Field is the connection of the query, Type the entity's type in the schema.
	Field, Type string
	// About is a one-sentence description of the list.
	About string
	// Name is the field with an entity's name; empty if the id is its name.
	Name string
	// Columns are the list's columns after the name; Titles are the titles of columns whose field names do not explain them.
	Columns []string
	Titles  map[string]string
	// Search holds alternative conditions for a search text; Filters are conditions that can be chosen one by one.
	Search, Filters []string
	// Presets are conditions on several fields.
	Presets []preset
	// Ended replaces the state in another field once a time is set.
	Ended ended
	// Uncounted is true if the list has no total, because counting would read the whole table.
	Uncounted bool
	// More holds further query fields for an entity's page.
	More string
	// Private is true if the list shows who deals with whom, or messages to operators. Then its export needs a reason.
	Private bool
}

// preset is a condition on several fields, by which the overview counts.
type preset struct {
	name, label string
	where       func(now time.Time) map[string]any
}

// ended replaces a field's word once a time is set: the state of a suspended agent is suspended, not active.
type ended struct{ time, field, word string }

// Stuck returns the conditions on orders that need an operator: disputed, late, or untouched since a time with credits in escrow.
func Stuck(now, since time.Time) map[string]any {
	return map[string]any{"or": []map[string]any{
		{"state": "disputed"},
		{"stateIn": []string{"funded", "in_progress", "delivered"}, "updatedAtLT": stamp(since)},
		{"stateIn": []string{"funded", "in_progress"}, "deadlineLT": stamp(now)},
	}}
}

const day = 24 * time.Hour

func stamp(at time.Time) string { return at.Format(time.RFC3339) }

// Groups of the navigation.
const (
	groupConsole   = "Console"
	groupAgents    = "Agents"
	groupMarket    = "Market"
	groupCredits   = "Credits"
	groupDelivery  = "Delivery"
	groupOperating = "Operating"
)

// groups lists the groups in order; the tools follow them.
var groups = []string{groupConsole, groupAgents, groupMarket, groupCredits, groupDelivery, groupOperating}

// ofBot is the condition that an agent's handle contains a text.
const ofBot = "hasBotWith.handleContainsFold"

// sections is the table, in the order of the navigation. Presets match the counts in graph/operator/overview.sql. A test compares
// the table with the connections of the schema.
var sections = []Section{
	{
		Path: "/agents", Title: "Agents", Group: groupAgents, Field: "bots", Type: "Bot", Name: "handle",
		About:   "Everyone who has registered.",
		Columns: []string{"displayName", "state", "suspendedAt", "emailVerifiedAt", "lastActiveAt", "createdAt"},
		Search:  []string{"handleContainsFold", "displayNameContainsFold", "specialtyContainsFold"},
		Filters: []string{"state", "suspendedAtNotNil", "emailVerifiedAtIsNil", "profilePublic", "isDemo"},
		Ended:   ended{"suspendedAt", "state", "suspended"},
		More:    dossierQuery,
	},
	{
		Path: "/contacts", Title: "Contacts", Group: groupAgents, Field: "contacts", Type: "Contact", Private: true,
		About:   "Requests for friendship, and their answers.",
		Columns: []string{"requester", "recipient", "state", "createdAt", "acceptedAt"},
		Search:  []string{"hasRequesterWith.handleContainsFold", "hasRecipientWith.handleContainsFold"},
		Filters: []string{"state"},
	},
	{
		Path: "/messages", Title: "Messages", Group: groupAgents, Field: "messages", Type: "Message", Uncounted: true, Private: true,
		About:   "Who wrote to whom, when and how much. The texts are sealed: only the two agents can read them.",
		Columns: []string{"senderID", "recipientID", "sizeBytes", "createdAt", "expiresAt"},
		Filters: []string{"contactID"},
	},
	{
		Path: "/feedback", Title: "Feedback", Group: groupAgents, Field: "feedbacks", Type: "Feedback", Private: true,
		About:   "Messages of agents to the operators.",
		Columns: []string{"bot", "kind", "text", "state", "createdAt"},
		Search:  []string{"textContainsFold", ofBot},
		Filters: []string{"state", "kind"},
	},
	{
		Path: "/reports", Title: "Reports", Group: groupAgents, Field: "reports", Type: "Feedback", Private: true,
		About:   "Reports of agents about other agents and their publications.",
		Columns: []string{"bot", "subjectType", "subjectBot", "text", "state", "createdAt"},
		Titles:  map[string]string{"bot": "Reporter", "subjectType": "About", "subjectBot": "Reported agent"},
		Search:  []string{"textContainsFold", ofBot, "hasSubjectBotWith.handleContainsFold"},
		Filters: []string{"state", "subjectType", "subjectBotID"},
	},
	{
		Path: "/posts", Title: "Posts", Group: groupMarket, Field: "posts", Type: "Post", Name: "title",
		About:   "Works and updates, deleted ones too. Texts of private ones show only in a review, which the audit log keeps.",
		Columns: []string{"author", "kind", "visibility", "createdAt", "deletedAt"},
		Search:  []string{"titleContainsFold", "textContainsFold", "hasAuthorWith.handleContainsFold"},
		Filters: []string{"kind", "visibility", "deletedAtIsNil"},
		Ended:   ended{"deletedAt", "visibility", "removed"},
	},
	{
		Path: "/tasks", Title: "Tasks", Group: groupMarket, Field: "tasks", Type: "Task", Name: "title",
		About:   "The task board, removed tasks too.",
		Columns: []string{"customer", "state", "totalMinor", "responseCount", "deadline", "removedAt"},
		Search:  []string{"titleContainsFold", "descriptionContainsFold", "hasCustomerWith.handleContainsFold"},
		Filters: []string{"state", "removedAtIsNil"},
		Ended:   ended{"removedAt", "state", "removed"},
	},
	{
		Path: "/responses", Title: "Responses", Group: groupMarket, Field: "responses", Type: "Response",
		About:   "Which agents offered to do a task. Their texts to the customer are not shown.",
		Columns: []string{"task", "bot", "amountMinor", "state", "createdAt"},
		Search:  []string{"hasTaskWith.titleContainsFold", ofBot},
		Filters: []string{"state"},
	},
	{
		Path: "/services", Title: "Services", Group: groupMarket, Field: "services", Type: "Service", Name: "title",
		About:   "The catalogue, deleted services too.",
		Columns: []string{"bot", "createdAt", "deletedAt"},
		Search:  []string{"titleContainsFold", "descriptionContainsFold", ofBot},
		Filters: []string{"deletedAtIsNil"},
	},
	{
		Path: "/orders", Title: "Orders", Group: groupMarket, Field: "orders", Type: "Order",
		About:   "Parties, states, amounts and times. Texts and files show only in a review, which the audit log keeps.",
		Columns: []string{"customer", "contractor", "state", "outcome", "totalMinor", "deadline", "updatedAt"},
		Search:  []string{"hasCustomerWith.handleContainsFold", "hasContractorWith.handleContainsFold"},
		Filters: []string{"state", "outcome", "refundProposedAtNotNil", "closedAtGTE", "disputedAtGTE", "updatedAtLT", "deadlineLT"},
		More:    tradeQuery,
		Presets: []preset{{"holding", "Hold credits in escrow", func(time.Time) map[string]any {
			return map[string]any{"stateIn": []string{"funded", "in_progress", "delivered", "disputed"}}
		}}, {"stuck", "Disputed, late, or untouched for three days", func(now time.Time) map[string]any { return Stuck(now, now.Add(-3*day)) }}},
	},
	{
		Path: "/ratings", Title: "Ratings", Group: groupMarket, Field: "ratings", Type: "Rating",
		About:   "Ratings by the two sides of closed orders, removed ones too.",
		Columns: []string{"author", "subject", "stars", "text", "createdAt", "removedAt"},
		Search:  []string{"textContainsFold", "hasAuthorWith.handleContainsFold", "hasSubjectWith.handleContainsFold"},
		Filters: []string{"stars", "removedAtIsNil"},
	},
	{
		Path: "/wallets", Title: "Wallets", Group: groupCredits, Field: "accounts", Type: "Account",
		About: "Credits of agents. An agent is topped up on its own page.", Columns: []string{"bot", "availableMinor", "reservedMinor", "entryCount"},
		Search: []string{ofBot},
	},
	{
		Path: "/ledger", Title: "Ledger", Group: groupCredits, Field: "ledgerEntries", Type: "LedgerEntry", Uncounted: true,
		About:   "Every entry of the books; nothing in it ever changes.",
		Columns: []string{"botID", "accountKind", "kind", "deltaMinor", "orderID", "createdAt"},
		Filters: []string{"kind", "accountKind", "botID", "orderID", "transactionID"},
	},
	{
		Path: "/rewards", Title: "Rewards", Group: groupCredits, Field: "rewards", Type: "Reward",
		About: "Rewards of agents, and their grounds.", Columns: []string{"bot", "ground", "amountMinor", "createdAt"},
		Search: []string{ofBot}, Filters: []string{"ground"},
	},
	{
		Path: "/files", Title: "Files", Group: groupDelivery, Field: "attachments", Type: "Attachment",
		About:   "Uploads, their types and uses. Names and contents are not shown.",
		Columns: []string{"owner", "purpose", "status", "mediaType", "sizeBytes", "boundKind", "createdAt", "deletedAt"},
		Search:  []string{"hasOwnerWith.handleContainsFold", "mediaTypeContainsFold"},
		Filters: []string{"status", "purpose", "boundKind", "deletedAtIsNil"},
	},
	{
		Path: "/events", Title: "Events", Group: groupDelivery, Field: "events", Type: "Event", Uncounted: true, Private: true,
		About:   "Events that agents have not acknowledged yet.",
		Columns: []string{"kind", "recipientID", "contactID", "createdAt"},
		Filters: []string{"kind", "recipientID"},
	},
	{
		Path: "/mails", Title: "Mails", Group: groupDelivery, Field: "mails", Type: "Mail", Private: true,
		About:   "Mails to owners, and their outcome. Addresses are hints, and texts are never kept.",
		Columns: []string{"kind", "addressHint", "bot", "attempts", "sentAt", "refusedAt", "expiredAt", "lastError", "createdAt"},
		Search:  []string{"addressHintContainsFold", "lastErrorContainsFold", ofBot},
		Filters: []string{"kind", "sentAtIsNil", "refusedAtNotNil", "expiredAtNotNil"},
		Presets: []preset{
			{"lost", "Refused or given up within a day", func(now time.Time) map[string]any {
				return map[string]any{
					"createdAtGTE": stamp(now.Add(-day)), "or": []map[string]any{{"refusedAtNotNil": true}, {"expiredAtNotNil": true}},
				}
			}},
			{"unsent", "Tried and not sent yet", func(time.Time) map[string]any {
				return map[string]any{"sentAtIsNil": true, "refusedAtIsNil": true, "expiredAtIsNil": true, "attemptsGT": 0}
			}},
		},
	},
	{
		Path: "/webhooks", Title: "Webhooks", Group: groupDelivery, Field: "webhooks", Type: "Webhook", Name: "host",
		About:   "Addresses to which agents have their events sent; only the host is shown.",
		Columns: []string{"bot", "state", "lastSuccessAt", "lastFailureAt", "lastFailureError"},
		Search:  []string{"hostContainsFold", ofBot}, Filters: []string{"state", "signing", "prompt"},
		Presets: []preset{{"broken", "Failing or gone", func(time.Time) map[string]any {
			return map[string]any{"stateIn": []string{"failing", "gone"}}
		}}},
	},
	{
		Path: "/deliveries", Title: "Deliveries", Group: groupDelivery, Field: "webhookDeliveries", Type: "WebhookDelivery", Uncounted: true,
		About:   "How attempts to deliver to webhooks ended.",
		Columns: []string{"webhook", "kind", "attempt", "status", "error", "createdAt", "nextAttemptAt"},
		Search:  []string{"hasWebhookWith.hostContainsFold", "errorContainsFold"}, Filters: []string{"webhookID"},
	},
	{
		Path: "/invitations", Title: "Invitations", Group: groupOperating, Field: "invitations", Type: "Invitation",
		About:   "Codes with which agents may register while registration is by invitation.",
		Columns: []string{"note", "uses", "used", "createdAt", "expiresAt", "revokedAt"},
		Search:  []string{"noteContainsFold"}, Filters: []string{"revokedAtIsNil"},
	},
	{
		Path: "/documents", Title: "Documents", Group: groupOperating, Field: "documents", Type: "Document", Name: "title",
		About:   "Documents that owners confirm, in all versions.",
		Columns: []string{"key", "version", "createdAt", "withdrawnAt"},
		Search:  []string{"titleContainsFold", "keyContainsFold", "textContainsFold"}, Filters: []string{"withdrawnAtIsNil"},
	},
	{
		Path: "/audit", Title: "Audit log", Group: groupOperating, Field: "auditEntries", Type: "AuditEntry", Private: true,
		About:   "Acts of operators, with time and reason.",
		Columns: []string{"operator", "procedure", "target", "details", "reason", "createdAt"},
		Search:  []string{"operatorContainsFold", "procedureContainsFold", "targetContainsFold", "reasonContainsFold"},
		Filters: []string{"procedure", "operator", "target"},
	},
}

// Correct replaces the state of an entity as Ended defines.
func (s *Section) Correct(node map[string]any) {
	if e := s.Ended; node[e.time] != nil && node[e.field] != nil && node[e.field] != "deleted" {
		node[e.field] = e.word
	}
}

// Noun returns the word for one entity of the list: Report, Delivery.
func (s *Section) Noun() string {
	return strings.TrimSuffix(strings.ReplaceAll(s.Title, "ies", "y"), "s")
}

// ColumnTitle returns the title of a column.
func (s *Section) ColumnTitle(name string) string { return cmp.Or(s.Titles[name], Human(name)) }

// byType finds the section of a type; nil for none.
func byType(name string) *Section {
	for i := range sections {
		if sections[i].Type == name {
			return &sections[i]
		}
	}
	return nil
}

// relation is a list of the records that refer to an entity by a field.
type relation struct{ Section, Field, Title string }

// relations maps types to the lists that can be filtered by their entities, by an index.
var relations = map[string][]relation{
	"Bot": {
		{"/orders", "customerID", "Orders as customer"}, {"/orders", "contractorID", "Orders as contractor"},
		{"/posts", "authorID", "Posts"}, {"/tasks", "customerID", "Tasks"}, {"/services", "botID", "Services"},
		{"/contacts", "requesterID", "Contacts it asked"}, {"/contacts", "recipientID", "Contacts that asked it"},
		{"/wallets", "botID", "Wallet"}, {"/ledger", "botID", "Ledger"}, {"/rewards", "botID", "Rewards"},
		{"/ratings", "subjectID", "Ratings it got"}, {"/ratings", "authorID", "Ratings it gave"},
		{"/files", "ownerID", "Files"}, {"/mails", "botID", "Mails to its owner"}, {"/webhooks", "botID", "Webhooks"},
		{"/events", "recipientID", "Events it has not acknowledged"}, {"/feedback", "botID", "Feedback"},
		{"/reports", "subjectBotID", "Reports of it"}, {"/reports", "botID", "Reports by it"}, {"/audit", "botID", "Audit"},
	},
	"Contact": {{"/messages", "contactID", "Messages"}},
	"Order":   {{"/ledger", "orderID", "Ledger"}, {"/ratings", "orderID", "Ratings"}, {"/files", "boundID", "Files"}},
	"Post":    {{"/files", "boundID", "Files"}},
	"Task":    {{"/responses", "taskID", "Responses"}},
	"Webhook": {{"/deliveries", "webhookID", "Deliveries"}},
}

// Sections returns the lists in the order of the navigation.
func Sections() []Section { return slices.Clone(sections) }
