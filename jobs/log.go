package jobs

import (
	"context"
	"log/slog"
)

// riverLog passes on what River says, one level lower where it is no warning: its counts every few seconds are for debugging.
type riverLog struct{ slog.Handler }

func lower(level slog.Level) slog.Level {
	if level == slog.LevelInfo {
		return slog.LevelDebug
	}
	return level
}

// Enabled is slog's to call.
func (l riverLog) Enabled(ctx context.Context, level slog.Level) bool {
	return l.Handler.Enabled(ctx, lower(level))
}

// Handle is slog's to call.
func (l riverLog) Handle(ctx context.Context, record slog.Record) error {
	record.Level = lower(record.Level)
	return l.Handler.Handle(ctx, record)
}

// WithAttrs is slog's to call.
func (l riverLog) WithAttrs(attributes []slog.Attr) slog.Handler {
	return riverLog{l.Handler.WithAttrs(attributes)}
}

// WithGroup is slog's to call.
func (l riverLog) WithGroup(name string) slog.Handler { return riverLog{l.Handler.WithGroup(name)} }
