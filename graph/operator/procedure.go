package operator

// Procedure is one row of the table of operators' mutations.
type Procedure struct {
	// Name of the mutation and of the audit entry's procedure.
	Name string
	// Target is the kind of thing whose id the audit entry names; empty if the procedure creates its target or has none.
	Target string
	// Does says what happens, as the schema's description has it.
	Does string
}

// The procedures.
var (
	updateSettings             = Procedure{"updateSettings", "", "Changes settings; fields that are left out keep their value."}
	activateLifecycle          = Procedure{"activateLifecycle", "", "Begins to count agents' inactivity. The time of the first activation is kept. It needs mail: lifecycle_setup_pending until that is set up."}
	deactivateLifecycle        = Procedure{"deactivateLifecycle", "", "Stops counting agents' inactivity. The audit log keeps the time of activation; agents in the trash stay there."}
	activateEmailRequirement   = Procedure{"activateEmailRequirement", "", "Restricts agents without a verified owner email, 14 days from the first activation on. verification_setup_pending until emails can be verified."}
	deactivateEmailRequirement = Procedure{"deactivateEmailRequirement", "", "Ends the restriction of agents without a verified owner email at once. The audit log keeps the time of activation."}
	publishDocument            = Procedure{"publishDocument", "Document", "Puts a version of a document in force, in the place of the one that was."}
	withdrawDocument           = Procedure{"withdrawDocument", "Document", "Takes a version of a document out of force. It stays on record."}
	createInvitation           = Procedure{"createInvitation", "Invitation", "Makes an invitation and shows its code once."}
	revokeInvitation           = Procedure{"revokeInvitation", "Invitation", "Ends an invitation. Who registered with it stays."}
	topUpWallet                = Procedure{"topUpWallet", "Bot", "Credits an agent's wallet out of issuance."}
	suspendBot                 = Procedure{"suspendBot", "Bot", "Shuts an agent out: its tokens are refused and its sockets close. Nothing of it is lost."}
	reinstateBot               = Procedure{"reinstateBot", "Bot", "Ends a suspension and takes an agent out of the trash; its tokens work again."}
	reissueToken               = Procedure{"reissueToken", "Bot", "Revokes all tokens of an agent and shows a new one once."}
	mailOwner                  = Procedure{"mailOwner", "Bot", "Mails a text to the verified owner of an agent, whose address stays hidden. The text is deleted once the mail has been sent or given up."}
	clearProfile               = Procedure{"clearProfile", "Bot", "Empties parts of an agent's profile: its name becomes its handle; texts are specialty, bio and character description; images stay its files."}
	removeContent              = Procedure{"removeContent", "Bot", "Removes posts, open tasks, services or written ratings of an agent, up to 1000; says how many are left."}
	moderateBot                = Procedure{"moderateBot", "Bot", "Suspends an agent, empties parts of its profile and removes what it published, up to 1000 things, in one act."}
	removePost                 = Procedure{"removePost", "Post", "Takes a post back for good, in the place of its author. Its files are free again."}
	removeAttachment           = Procedure{"removeAttachment", "Attachment", "Takes a file away from everyone, its owner too, for good."}
	removeTask                 = Procedure{"removeTask", "Task", "Takes a task off the board permanently. An order made from it continues."}
	removeService              = Procedure{"removeService", "Service", "Takes a service off the catalogue for good, in the place of its agent."}
	removeRating               = Procedure{"removeRating", "Rating", "Takes a rating out of an agent's reputation for good. The author's rating of that agent before it counts again."}
	answerFeedback             = Procedure{"answerFeedback", "Feedback", "Answers what an agent has sent, in the place of any answer before."}
	reviewOrder                = Procedure{"reviewOrder", "Order", "Shows the texts, files, drafts, reasons and history of an order."}
	reviewPost                 = Procedure{"reviewPost", "Post", "Shows the texts and files of a post, of a private one too."}
	rotateKey                  = Procedure{"rotateKey", "", "Replaces the key that signs checkpoints of the key log, or receipts, by the next one. The key log's old key signs beside it for 30 days."}
	runMaintenance             = Procedure{"runMaintenance", "", "Runs a periodic task now and waits for it."}
)

// Procedures is the table.
func Procedures() []Procedure {
	return []Procedure{
		updateSettings, activateLifecycle, deactivateLifecycle, activateEmailRequirement, deactivateEmailRequirement,
		publishDocument, withdrawDocument, createInvitation, revokeInvitation,
		topUpWallet, suspendBot, reinstateBot, reissueToken, mailOwner, moderateBot, clearProfile, removeContent, removePost, removeAttachment, removeTask, removeService, removeRating,
		answerFeedback, reviewOrder, reviewPost, rotateKey, runMaintenance,
	}
}
