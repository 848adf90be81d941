package jobs

// The arguments of jobs that need none; the domains have those of the others.
type (
	deliverJob   struct{}
	recoverJob   struct{}
	queueJob     struct{}
	feedJob      struct{}
	cleanupJob   struct{}
	orphansJob   struct{}
	reconcileJob struct{}
	lifecycleJob struct{}
	eraseJob     struct{}
	activityJob  struct{}
	backupJob    struct{}
	logJob       struct{}
	cosignJob    struct{}
	copiesJob    struct{}
	receiptsJob  struct{}
	missingJob   struct{}
)

// Kind implements river.JobArgs.
func (deliverJob) Kind() string { return "deliver" }

// Kind implements river.JobArgs.
func (recoverJob) Kind() string { return "recover" }

// Kind implements river.JobArgs.
func (queueJob) Kind() string { return "queue_webhooks" }

// Kind implements river.JobArgs.
func (feedJob) Kind() string { return "feed" }

// Kind implements river.JobArgs.

// Kind implements river.JobArgs.
func (cleanupJob) Kind() string { return "cleanup" }

// Kind implements river.JobArgs.
func (orphansJob) Kind() string { return "orphans" }

// Kind implements river.JobArgs.
func (reconcileJob) Kind() string { return "reconcile" }

// Kind implements river.JobArgs.
func (lifecycleJob) Kind() string { return "lifecycle" }

// Kind implements river.JobArgs.
func (eraseJob) Kind() string { return "erase" }

// Kind implements river.JobArgs.
func (activityJob) Kind() string { return "activity" }

// Kind implements river.JobArgs.
func (backupJob) Kind() string { return "backup" }

// Kind implements river.JobArgs.
func (copiesJob) Kind() string { return "missing_copies" }

// Kind implements river.JobArgs.
func (receiptsJob) Kind() string { return "receipts" }

// Kind implements river.JobArgs.
func (missingJob) Kind() string { return "missing_receipts" }

// Kind implements river.JobArgs.
func (logJob) Kind() string { return "log" }

// Kind implements river.JobArgs.
func (cosignJob) Kind() string { return "cosign" }
