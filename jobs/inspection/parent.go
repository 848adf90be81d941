package inspection

import (
	"context"
	"errors"
	"os"

	"github.com/go-json-experiment/json"
)

// Request names a file to inspect.
type Request struct {
	// Original is the file, read from its beginning.
	Original *os.File
	// Purpose is what the file was uploaded for.
	Purpose Purpose
	// Scratch is an existing folder in which the inspection makes a folder of its own, for Report.Remove to delete; empty
	// means the system's folder for temporary files.
	Scratch string
}

// inspect has a child judge a file and takes over what it made. It closes the child unless the report needs its folder.
func (p *process) inspect(ctx context.Context, original *os.File, purpose Purpose) (Report, error) {
	report, err := p.judge(ctx, original, purpose)
	if err != nil {
		return Report{}, errors.Join(err, p.close())
	}
	return report, nil
}

// judge is inspect but for closing the child.
func (p *process) judge(ctx context.Context, original *os.File, purpose Purpose) (Report, error) {
	limited, cancel := context.WithTimeout(ctx, wallTime)
	defer cancel()
	given := make(chan error, 1)
	go func() { given <- p.give(original, purpose) }()
	gave := p.wait(limited, given)
	if err := ctx.Err(); err != nil {
		return Report{}, err
	}
	_, said, ok := p.out.split()
	if !ok || p.cmd.ProcessState.ExitCode() == exitUnable {
		return Report{}, p.unable()
	}
	if gave != nil {
		return Report{}, gave
	}
	report := Report{folder: p.folder}
	if report.Ending = p.ending(); report.Ending != Judged {
		report.Reason = refusedLimits.Error()
		return report, p.folder.clear()
	}
	var answer verdict
	if json.Unmarshal(said, &answer) != nil || !answer.presentable() {
		return refuse(report), p.folder.clear()
	}
	report.MediaType, report.Reason = answer.MediaType, answer.Reason
	if answer.Accepted {
		var err error
		if report, err = collect(report, answer, purpose); err != nil {
			return Report{}, err
		}
	}
	return report, p.folder.clear()
}
