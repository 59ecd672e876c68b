// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"fmt"
	"sort"
	"strings"
	"time"

	"connectrpc.com/connect"
	profilev1 "github.com/grafana/pyroscope/api/gen/proto/go/google/v1"
	querierv1 "github.com/grafana/pyroscope/api/gen/proto/go/querier/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/querier/v1/querierv1connect"
	typesv1 "github.com/grafana/pyroscope/api/gen/proto/go/types/v1"
)

func (t *tests) querier() querierv1connect.QuerierServiceClient {
	return querierv1connect.NewQuerierServiceClient(t.client, t.url, t.opts...)
}

func (t *tests) selector(pod string) string {
	if pod == "" {
		return fmt.Sprintf(`{service_name="%s"}`, t.service)
	}
	return fmt.Sprintf(`{service_name="%s", pod="%s"}`, t.service, pod)
}

func rangeOf(now time.Time) (int64, int64) {
	return now.Add(-time.Minute).UnixMilli(), now.UnixMilli()
}

func (t *tests) labels(now time.Time) {
	c := t.querier()
	start, end := rangeOf(now)
	types, err := c.ProfileTypes(t.ctx, connect.NewRequest(&querierv1.ProfileTypesRequest{Start: start, End: end}))
	if t.fine("ProfileTypes", err) {
		found := false
		for _, p := range types.Msg.ProfileTypes {
			if p.ID == cpuType {
				found = p.Name == "process_cpu" && p.SampleType == "cpu" && p.SampleUnit == "nanoseconds" &&
					p.PeriodType == "cpu" && p.PeriodUnit == "nanoseconds"
			}
		}
		t.ok("ProfileTypes", found, "no %s in %v", cpuType, types.Msg)
	}
	matchers := []string{t.selector("")}
	names, err := c.LabelNames(t.ctx, connect.NewRequest(&typesv1.LabelNamesRequest{Matchers: matchers, Start: start, End: end}))
	if t.fine("LabelNames", err) {
		all := " " + strings.Join(names.Msg.Names, " ") + " "
		for _, want := range []string{"pod", "service_name", "__profile_type__", "__name__"} {
			t.ok("LabelNames", strings.Contains(all, " "+want+" "), "no %s in %s", want, all)
		}
		t.ok("LabelNames", sort.StringsAreSorted(names.Msg.Names), "not sorted: %s", all)
	}
	values, err := c.LabelValues(t.ctx, connect.NewRequest(&typesv1.LabelValuesRequest{Name: "pod", Matchers: matchers, Start: start, End: end}))
	if t.fine("LabelValues", err) {
		t.equal("LabelValues", values.Msg.Names, "[a b]")
	}
	_, err = c.LabelValues(t.ctx, connect.NewRequest(&typesv1.LabelValuesRequest{Start: start, End: end}))
	t.fails("LabelValues without a name", err, connect.CodeInvalidArgument)
	sets, err := c.Series(t.ctx, connect.NewRequest(&querierv1.SeriesRequest{Matchers: matchers, LabelNames: []string{"service_name", "pod"}, Start: start, End: end}))
	if t.fine("Series", err) {
		var got []string
		for _, s := range sets.Msg.LabelsSet {
			got = append(got, labelText(s.Labels))
		}
		sort.Strings(got)
		t.equal("Series", got, fmt.Sprintf("[pod=a,service_name=%s pod=b,service_name=%s]", t.service, t.service))
	}
}

func labelText(l []*typesv1.LabelPair) string {
	var parts []string
	for _, p := range l {
		parts = append(parts, p.Name+"="+p.Value)
	}
	return strings.Join(parts, ",")
}

// Totals by function of a flame graph: each level is quadruples of distance, total, self, name.
func totals(g *querierv1.FlameGraph) map[string]int64 {
	sum := map[string]int64{}
	for _, level := range g.Levels {
		for i := 0; i+3 < len(level.Values); i += 4 {
			sum[g.Names[level.Values[i+3]]] += level.Values[i+1]
		}
	}
	return sum
}

// Self values by function of the tree's bytes: name, self, number of children; preorder.
func selfs(b []byte) (map[string]int64, error) {
	sum := map[string]int64{}
	for len(b) > 0 {
		n, k := binary.Uvarint(b)
		if k <= 0 || uint64(len(b)-k) < n {
			return nil, fmt.Errorf("a name is cut off")
		}
		name := string(b[k : k+int(n)])
		b = b[k+int(n):]
		self, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, fmt.Errorf("a value is cut off")
		}
		b = b[k:]
		_, k = binary.Uvarint(b)
		if k <= 0 {
			return nil, fmt.Errorf("a count is cut off")
		}
		b = b[k:]
		sum[name] += int64(self)
	}
	return sum, nil
}

func pprofSum(p *profilev1.Profile) (sum int64) {
	for _, s := range p.GetSample() {
		sum += s.Value[0]
	}
	return sum
}

func (t *tests) merges(now time.Time) {
	c := t.querier()
	start, end := rangeOf(now)
	ask := func(what string, change func(*querierv1.SelectMergeStacktracesRequest)) *querierv1.SelectMergeStacktracesResponse {
		r := &querierv1.SelectMergeStacktracesRequest{ProfileTypeID: cpuType, LabelSelector: t.selector(""), Start: start, End: end}
		change(r)
		answer, err := c.SelectMergeStacktraces(t.ctx, connect.NewRequest(r))
		if !t.fine(what, err) {
			return nil
		}
		return answer.Msg
	}
	if a := ask("flame graph", func(r *querierv1.SelectMergeStacktracesRequest) {}); a != nil {
		sum := totals(a.Flamegraph)
		t.equal("flame graph's total", a.Flamegraph.Total, truth("", ""))
		for _, f := range []string{"main", "handle", "encode", "parse", "idle"} {
			t.equal("flame graph: "+f, sum[f], truth("", f))
		}
	}
	if a := ask("flame graph of a pod", func(r *querierv1.SelectMergeStacktracesRequest) { r.LabelSelector = t.selector("b") }); a != nil {
		t.equal("flame graph of a pod", a.Flamegraph.Total, truth("b", ""))
	}
	if a := ask("tree", func(r *querierv1.SelectMergeStacktracesRequest) {
		r.Format = querierv1.ProfileFormat_PROFILE_FORMAT_TREE
	}); a != nil {
		self, err := selfs(a.Tree)
		if t.fine("tree's bytes", err) {
			t.equal("tree: encode", self["encode"], truth("", "encode"))
			t.equal("tree: idle", self["idle"], truth("", "idle"))
			t.equal("tree: main", self["main"], 0)
		}
	}
	if a := ask("a call site", func(r *querierv1.SelectMergeStacktracesRequest) {
		r.StackTraceSelector = &typesv1.StackTraceSelector{CallSite: []*typesv1.Location{{Name: "main"}, {Name: "handle"}}}
	}); a != nil {
		t.equal("a call site", a.Flamegraph.Total, truth("", "handle"))
	}
	if a := ask("max_nodes", func(r *querierv1.SelectMergeStacktracesRequest) { n := int64(2); r.MaxNodes = &n }); a != nil {
		t.equal("max_nodes keeps the total", a.Flamegraph.Total, truth("", ""))
	}
	if a := ask("nothing there", func(r *querierv1.SelectMergeStacktracesRequest) { r.LabelSelector = `{service_name="nobody"}` }); a != nil {
		t.equal("nothing there", a.Flamegraph.Names, "[total]")
		t.equal("nothing there", len(a.Flamegraph.Levels), 1)
	}
	profile, err := c.SelectMergeProfile(t.ctx, connect.NewRequest(&querierv1.SelectMergeProfileRequest{ProfileTypeID: cpuType, LabelSelector: t.selector("a"), Start: start, End: end}))
	if t.fine("SelectMergeProfile", err) {
		t.equal("SelectMergeProfile", pprofSum(profile.Msg), truth("a", ""))
		t.equal("SelectMergeProfile: types", len(profile.Msg.SampleType), 1)
	}
	spans, err := c.SelectMergeSpanProfile(t.ctx, connect.NewRequest(&querierv1.SelectMergeSpanProfileRequest{ProfileTypeID: cpuType, LabelSelector: t.selector(""), SpanSelector: []string{span}, Start: start, End: end}))
	if t.fine("SelectMergeSpanProfile", err) {
		t.equal("SelectMergeSpanProfile", spans.Msg.Flamegraph.Total, truth("", "encode"))
	}
}

func (t *tests) seriesAndHeatmap(now time.Time) {
	c := t.querier()
	start, end := rangeOf(now)
	series, err := c.SelectSeries(t.ctx, connect.NewRequest(&querierv1.SelectSeriesRequest{ProfileTypeID: cpuType, LabelSelector: t.selector(""),
		Start: start, End: end, Step: 15, GroupBy: []string{"pod"}, ExemplarType: typesv1.ExemplarType_EXEMPLAR_TYPE_INDIVIDUAL}))
	if t.fine("SelectSeries", err) {
		t.equal("SelectSeries: groups", len(series.Msg.Series), 2)
		for _, s := range series.Msg.Series {
			pod := labelText(s.Labels)
			var sum float64
			for _, p := range s.Points {
				sum += p.Value
				t.ok("SelectSeries: grid", (p.Timestamp-start)%15000 == 0, "%d is on no step", p.Timestamp)
				t.exemplar(p.Exemplars, start, end)
			}
			t.equal("SelectSeries: "+pod, int64(sum), truth(strings.TrimPrefix(pod, "pod="), ""))
		}
	}
	_, err = c.SelectSeries(t.ctx, connect.NewRequest(&querierv1.SelectSeriesRequest{ProfileTypeID: cpuType, LabelSelector: t.selector(""), Start: start, End: end}))
	t.fails("SelectSeries without a step", err, connect.CodeInvalidArgument)
	heat, err := c.SelectHeatmap(t.ctx, connect.NewRequest(&querierv1.SelectHeatmapRequest{ProfileTypeID: cpuType, LabelSelector: t.selector(""),
		Start: start, End: end, Step: 15, QueryType: querierv1.HeatmapQueryType_HEATMAP_QUERY_TYPE_INDIVIDUAL,
		ExemplarType: typesv1.ExemplarType_EXEMPLAR_TYPE_INDIVIDUAL}))
	if t.fine("SelectHeatmap", err) {
		n := int32(0)
		for _, s := range heat.Msg.Series {
			for _, slot := range s.Slots {
				for _, count := range slot.Counts {
					n += count
				}
				t.ok("SelectHeatmap: exemplars", len(slot.Exemplars) > 0, "none")
				t.exemplar(slot.Exemplars, start, end)
			}
		}
		t.equal("SelectHeatmap: profiles", n, len(pushes))
	}
}

// An exemplar is a profile: merged alone it has the value that the exemplar says.
func (t *tests) exemplar(list []*typesv1.Exemplar, start, end int64) {
	for _, e := range list {
		a, err := t.querier().SelectMergeStacktraces(t.ctx, connect.NewRequest(&querierv1.SelectMergeStacktracesRequest{ProfileTypeID: cpuType,
			LabelSelector: "{}", Start: start, End: end, ProfileIdSelector: []string{e.ProfileId}}))
		if t.fine("exemplar "+e.ProfileId, err) {
			t.equal("exemplar's value", a.Msg.Flamegraph.Total, e.Value)
		}
	}
}

func (t *tests) diffAndStats(now time.Time) {
	c := t.querier()
	start, end := rangeOf(now)
	side := func(pod string) *querierv1.SelectMergeStacktracesRequest {
		return &querierv1.SelectMergeStacktracesRequest{ProfileTypeID: cpuType, LabelSelector: t.selector(pod), Start: start, End: end}
	}
	diff, err := c.Diff(t.ctx, connect.NewRequest(&querierv1.DiffRequest{Left: side("a"), Right: side("b")}))
	if t.fine("Diff", err) {
		g := diff.Msg.Flamegraph
		t.equal("Diff: left", g.LeftTicks, truth("a", ""))
		t.equal("Diff: right", g.RightTicks, truth("b", ""))
		left, right := map[string]int64{}, map[string]int64{}
		for _, level := range g.Levels {
			for i := 0; i+6 < len(level.Values); i += 7 {
				left[g.Names[level.Values[i+6]]] += level.Values[i+1]
				right[g.Names[level.Values[i+6]]] += level.Values[i+4]
			}
		}
		t.equal("Diff: parse on the left", left["parse"], truth("a", "parse"))
		t.equal("Diff: parse on the right", right["parse"], truth("b", "parse"))
	}
	stats, err := c.GetProfileStats(t.ctx, connect.NewRequest(&typesv1.GetProfileStatsRequest{}))
	if t.fine("GetProfileStats", err) {
		t.ok("GetProfileStats", stats.Msg.DataIngested && stats.Msg.OldestProfileTime <= now.UnixMilli(), "%v", stats.Msg)
	}
	_, err = c.AnalyzeQuery(t.ctx, connect.NewRequest(&querierv1.AnalyzeQueryRequest{Start: start, End: end, Query: cpuType + t.selector("")}))
	t.fine("AnalyzeQuery", err)
}
