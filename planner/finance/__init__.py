"""What an option costs and when it pays: costs, cash flow, break-even, prices of tokens and energy.

Pure numbers.
"""
