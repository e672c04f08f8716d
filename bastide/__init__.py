"""bastide"""
