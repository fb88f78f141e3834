"""hta_load.py - HTA reads a trace and answers what tpa kernels does."""
import sys

from hta.trace_analysis import TraceAnalysis

print(TraceAnalysis(trace_files={0: sys.argv[1]}).get_gpu_kernel_breakdown(visualize=False))
