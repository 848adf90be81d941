package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	socketsOpen = Row{
		"stoa_sockets_open", Gauge, nil,
		"Event sockets, streams and waiting polls open on this process.",
	}
	socketsLimit = Row{
		"stoa_sockets_limit", Gauge, nil,
		"How many event sockets, streams and waiting polls all processes together may hold; 0 is no limit.",
	}
	socketsOpened = Row{
		"stoa_sockets_opened_total", Counter, nil,
		"Event sockets, streams and waiting polls that were let in.",
	}
	socketsClosed = Row{
		"stoa_sockets_closed_total", Counter, []string{"code"},
		"Event sockets, streams and waiting polls that ended or were turned away, by close code, that of a socket; 0 stands for those that broke off, 1000 also for polls with their answer.",
	}
	socketsDelivered = Row{
		"stoa_events_delivered_total", Counter, nil,
		"Events sent over event sockets, over streams and to polls that waited; one that is sent again counts again.",
	}
	socketsAcknowledged = Row{
		"stoa_events_acknowledged_total", Counter, nil,
		"Events acknowledged.",
	}
	socketsHeard = Row{
		"stoa_wakeups_heard_total", Counter, nil,
		"Wake-ups that came from other processes.",
	}
	socketsProcesses = Row{
		"stoa_processes", Gauge, nil,
		"Processes that listen for wake-ups, this one included, as this one sees it.",
	}
	socketsLinked = Row{
		"stoa_sockets_linked", Gauge, nil,
		"1 while this process holds the connection on which it gets wake-ups; without it no socket, stream or waiting poll is accepted.",
	}
	socketDomain = Domain{
		"Event sockets", "Of one process.",
		[]Row{
			socketsOpen, socketsLimit, socketsOpened, socketsClosed, socketsDelivered, socketsAcknowledged, socketsHeard,
			socketsProcesses, socketsLinked,
		},
	}
)

// Sockets are the figures of the event sockets of one process since it began.
type Sockets struct {
	Open, Limit, Processes                 int
	Opened, Delivered, Acknowledged, Heard int64
	// Closed counts by close code.
	Closed map[int]int64
	Linked bool
}

func (s Sockets) values() []Value {
	values := []Value{
		{Row: socketsOpen, Value: float64(s.Open)},
		{Row: socketsLimit, Value: float64(s.Limit)},
		{Row: socketsOpened, Value: float64(s.Opened)},
		{Row: socketsDelivered, Value: float64(s.Delivered)},
		{Row: socketsAcknowledged, Value: float64(s.Acknowledged)},
		{Row: socketsHeard, Value: float64(s.Heard)},
		{Row: socketsProcesses, Value: float64(s.Processes)},
		{Row: socketsLinked, Value: flag(s.Linked)},
	}
	for code, n := range s.Closed {
		values = append(values, Value{socketsClosed, float64(n), []string{strconv.Itoa(code)}})
	}
	return values
}

// socketCollector reads the figures when they are asked for.
type socketCollector struct{ read func() Sockets }

// Describe implements prometheus.Collector.
func (c socketCollector) Describe(to chan<- *prometheus.Desc) { describe(to, socketDomain.Rows) }

// Collect implements prometheus.Collector.
func (c socketCollector) Collect(to chan<- prometheus.Metric) { send(to, c.read().values()) }

// Sockets adds the event sockets; read must not block.
func (m *Metrics) Sockets(read func() Sockets) { m.registry.MustRegister(socketCollector{read}) }

func describe(to chan<- *prometheus.Desc, rows []Row) {
	for _, row := range rows {
		to <- row.desc()
	}
}

// flag is 1 for true.
func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
