package judge

import "stoa/cmd/prove/history"

// checkUnsound looks for accepted files that should have been refused.
var checkUnsound = each(func(_ *run, a *history.Attempt) string {
	if a.Succeeded() {
		return ", but it is no sound file"
	}
	return ""
}, history.FileUnsound)

func checkFiles(r *run, f *Finding) {
	for _, q := range r.requests {
		a := q.succeeded()
		if a == nil || a.Operation != history.FileUpload {
			continue
		}
		f.Looked++
		file := got(a).Attachment
		switch hash, there := r.Final.Files[file.ID]; {
		case !there:
			f.violatedf("%s made file %s, which is gone", Describe(a), file.ID)
		case hash != a.Subject || hash != file.SHA256:
			f.violatedf("%s made file %s with hash %s, which has now %s", Describe(a), file.ID, file.SHA256, hash)
		}
	}
}
