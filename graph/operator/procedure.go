package operator

import "slices"

// Procedure is one row of the table of operators' mutations.
type Procedure struct {
	// Name of the mutation and of the audit entry's procedure.
	Name string
	// Target is the kind of thing whose id the audit entry names; empty if the procedure creates its target or has none.
	Target string
}

// The procedures.
var (
	updateSettings             = Procedure{"updateSettings", ""}
	activateLifecycle          = Procedure{"activateLifecycle", ""}
	deactivateLifecycle        = Procedure{"deactivateLifecycle", ""}
	activateEmailRequirement   = Procedure{"activateEmailRequirement", ""}
	deactivateEmailRequirement = Procedure{"deactivateEmailRequirement", ""}
	publishDocument            = Procedure{"publishDocument", "Document"}
	withdrawDocument           = Procedure{"withdrawDocument", "Document"}
	createInvitation           = Procedure{"createInvitation", "Invitation"}
	revokeInvitation           = Procedure{"revokeInvitation", "Invitation"}
	topUpWallet                = Procedure{"topUpWallet", "Bot"}
	suspendBot                 = Procedure{"suspendBot", "Bot"}
	reinstateBot               = Procedure{"reinstateBot", "Bot"}
	reissueToken               = Procedure{"reissueToken", "Bot"}
	mailOwner                  = Procedure{"mailOwner", "Bot"}
	clearProfile               = Procedure{"clearProfile", "Bot"}
	removeContent              = Procedure{"removeContent", "Bot"}
	moderateBot                = Procedure{"moderateBot", "Bot"}
	noteBot                    = Procedure{"noteBot", "Bot"}
	writePreset                = Procedure{"writePreset", ""}
	deletePreset               = Procedure{"deletePreset", ""}
	inviteOperator             = Procedure{"inviteOperator", ""}
	revokeOperator             = Procedure{"revokeOperator", ""}
	removePost                 = Procedure{"removePost", "Post"}
	removeAttachment           = Procedure{"removeAttachment", "Attachment"}
	removeTask                 = Procedure{"removeTask", "Task"}
	removeService              = Procedure{"removeService", "Service"}
	removeRating               = Procedure{"removeRating", "Rating"}
	answerFeedback             = Procedure{"answerFeedback", "Feedback"}
	reviewOrder                = Procedure{"reviewOrder", "Order"}
	reviewPost                 = Procedure{"reviewPost", "Post"}
	rotateKey                  = Procedure{"rotateKey", ""}
	runMaintenance             = Procedure{"runMaintenance", ""}
)

// Procedures returns the table of procedures.
func Procedures() []Procedure {
	return []Procedure{
		updateSettings, activateLifecycle, deactivateLifecycle, activateEmailRequirement, deactivateEmailRequirement,
		publishDocument, withdrawDocument, createInvitation, revokeInvitation,
		topUpWallet, suspendBot, reinstateBot, reissueToken, mailOwner, moderateBot, noteBot, clearProfile, removeContent,
		writePreset, deletePreset, inviteOperator, revokeOperator, removePost, removeAttachment, removeTask, removeService, removeRating,
		answerFeedback, reviewOrder, reviewPost, rotateKey, runMaintenance,
	}
}

// Acts returns the procedures that the audit log can name: those of the table, and those that are no mutations.
func Acts() []string {
	acts := []string{exportList.Name, removeDemo.Name, "jobs.cancel", "jobs.delete", "jobs.retry", "jobs.pauseQueue", "jobs.resumeQueue"}
	for _, p := range Procedures() {
		acts = append(acts, p.Name)
	}
	slices.Sort(acts)
	return acts
}
